"""Archives that are damaged."""

from __future__ import annotations

import io
import zipfile


def damaged_zip(first: str, *others: str, text: str = "text", at: int = 0) -> bytes:
    """A ZIP archive whose first file cannot be unpacked from some byte of `text` on: the stream ends in a block of a
    kind that DEFLATE has not."""
    made, place = io.BytesIO(), 0
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (first, *others):
            archive.writestr(name, text)
        info = archive.infolist()[0]
    place = len(info.FileHeader()) + (info.compress_size * at) // max(len(text), 1)
    data = bytearray(made.getvalue())
    data[place : place + 4] = b"\xff" * 4
    return bytes(data)
