"""WhatsApp's export of a chat, of Android and iOS, in any language: `_chat.txt`, alone or in the archive.

A message begins with its date and time; lines without them go on with the message before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from embermem.transfer.files import Files, text_lines, text_of_head
from embermem.transfer.formats.dates import DATE, HALF, MARKS, TIME, OrderFinder, numbers_of, time_in
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.items import BadLine, Entry, Found, LeftOut

_LABELS = {"source": "whatsapp"}
_AFTER = rf"[{MARKS}]*(?(open)\]|(?:\s[-–—]\s|[,:]\s))\s?(?P<rest>.*)"
_HEADS = tuple(
    re.compile(rf"[{MARKS}]*(?P<open>\[)?{moment}{_AFTER}", re.DOTALL)
    for moment in (
        rf"(?P<date>{DATE})[,،]?[{MARKS}]*\s+[{MARKS}]*(?:(?!{HALF})\w{{1,5}}\s)?{TIME}",
        rf"{TIME},?\s+(?P<date>{DATE})",
    )
)
_SAID = re.compile(rf"[{MARKS}~\s]*(?P<name>[^:\"“”„«»]{{1,100}}?)\s?:(?:\s|$)(?P<text>.*)", re.DOTALL)
_MEDIA = re.compile(
    r"omitted|omitid|omess|omis|weggelassen|ausgeschlossen|weggelaten|absent|attached|adjunt|angehängt|anexad|joint|"
    r"allegat|bijgevoegd|utelämna|udelad|utelatt|pominięt|без медиа|опущен|省略|忽略|附件|添付|생략|첨부",
    re.IGNORECASE,
)
_ANGLES = re.compile(r"<(?P<inner>[^<>]{1,200})>")
_FILE = re.compile(r"\S.{0,200}\.\w{2,5} \((?P<inner>[^()]{3,60})\)")
"""A file's name with a remark, as Android writes it."""
_EDITED = re.compile(
    r"edit|bearbeit|modifi|bewerkt|redigera|redigeret|zmienion|измен|düzenlen|تعديل|ویرایش|επεξεργα|редактиран|"
    r"chỉnh sửa|sunting|编辑|編輯|編集|수정",
    re.IGNORECASE,
)
_MARK_AT_END = re.compile(r"<(?P<inner>[^<>]{1,120})>$")
_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|diese nachricht wurde gelöscht|du hast diese nachricht "
    r"gelöscht|se eliminó este mensaje|eliminaste este mensaje|ce message a été supprimé|vous avez supprimé ce message|"
    r"mensagem apagada|(?:essa|esta) mensagem foi apagada|você apagou esta mensagem|questo messaggio è stato eliminato|"
    r"hai eliminato questo messaggio|dit bericht is verwijderd|(?:u hebt|je hebt) dit bericht verwijderd|ta wiadomość "
    r"została usunięta|usunięto tę wiadomość|данное сообщение удалено|вы удалили данное сообщение|bu mesaj silindi|bu "
    r"mesajı sildiniz|تم حذف هذه الرسالة|(?:لقد )?حذفت هذه الرسالة|این پیام (?:حذف|پاک) شد(?:ه است)?|شما این پیام را "
    r"حذف کردید|αυτό το μήνυμα διαγράφηκε|"
    r"διαγράψατε αυτό το μήνυμα|това съобщение беше изтрито|изтрихте това съобщение|"
    r"tin nhắn này đã bị x(?:óa|oá)|bạn đã x(?:óa|oá) tin nhắn này|mesej ini telah dipadam(?:kan)?|anda telah memadam"
    r"(?:kan)? mesej ini|pesan ini (?:telah )?dihapus|anda (?:telah )?menghapus pesan ini|det här meddelandet togs "
    r"bort|このメッセージは削除されました|このメッセージを削除しました|삭제된 메시지입니다|이 메시지를 삭제했습니다|"
    r"此訊息已刪除|您已刪除此訊息|此消息已删除|你已删除此消息|您已删除此消息)[.。]?",
    re.IGNORECASE,
)
_COPY = re.compile(r"\s*\(\d+\)$")
_CHAT = re.compile(r"^WhatsApp[ -]+.{0,20}?(?:with|mit|con|avec|com|met|-)\s+", re.IGNORECASE)
_LOOKED_AT = 5


def sniff(files: Files) -> bool:
    return bool(_files(files))


def _files(files: Files) -> list[str]:
    return [name for name in files.names if _is_chat(text_of_head(files.heads[name]))]


def _is_chat(head: str) -> bool:
    lines = [line for line in head[:20_000].splitlines() if line.strip()]
    return bool(lines) and _head(lines[0]) is not None


def read(files: Files, options: Options) -> Iterator[Found]:
    for name in _files(files):
        order = _order(files, name, options.dates)
        for found in _messages(files, name, order):
            yield replace(found, thread=_thread(files, name)) if isinstance(found, Entry) else found


def _order(files: Files, name: str, told: str | None) -> str:
    finder = OrderFinder()
    for _, line in text_lines(files, name):
        match = _head(line) if isinstance(line, str) else None
        if match is not None:
            finder.see(match["date"], numbers_of(match))
    return finder.order(told)


def _messages(files: Files, name: str, order: str) -> Iterator[Found]:
    """Each message with the lines that go on with it."""
    where, current, begun = files.where(name), list[str](), ("", None)
    opened: tuple[str, datetime | None] = begun
    for number, line in text_lines(files, name):
        if isinstance(line, BadLine):
            yield line
            continue
        match = _head(line)
        if match is None:
            current.append(line)
            continue
        if opened[1] is not None:
            yield _message(*opened, "\n".join(current))
        place = f"{where}line {number}"
        try:
            opened, current = (place, time_in(match, order)), [line[match.start("rest") :]]
        except ValueError as error:
            yield BadLine(
                place=place, what=f"no such time: {line[: match.start('rest')]!r} ({error})", advice="mend it"
            )
            opened, current = begun, []
    if opened[1] is not None:
        yield _message(*opened, "\n".join(current))


def _message(place: str, at: datetime | None, rest: str) -> Found:
    said = _SAID.match(rest)
    if said is None:
        return LeftOut(what="lines of WhatsApp itself (who joined, what was encrypted)")
    marked = said["text"].startswith(tuple(MARKS))
    first, line_break, more = _unmarked(said["text"]).partition("\n")
    first = first.strip(MARKS + " ")
    inner = _ANGLES.fullmatch(first)
    if _DELETED.fullmatch(first):
        return LeftOut(what="messages that were deleted")
    file = _FILE.fullmatch(first)
    if inner is not None or (_MEDIA.search(first) and (marked or (file and _MEDIA.search(file["inner"])))):
        first = f"[{inner['inner'] if inner is not None else first}]"
    elif marked:
        return LeftOut(what="lines of WhatsApp itself (who joined, what was encrypted)")
    text = (first + line_break + more).strip().strip(MARKS)
    if not text:
        return LeftOut(what="empty messages")
    return Entry(place=place, role="user", content=text, name=said["name"].strip(MARKS + " "), at=at, metadata=_LABELS)


def _unmarked(text: str) -> str:
    """A text without the remark that it was edited."""
    mark = _MARK_AT_END.search(text.rstrip())
    return text[: mark.start()].rstrip(f"{MARKS} ") if mark is not None and _EDITED.search(mark["inner"]) else text


def _head(line: str) -> re.Match[str] | None:
    """What a message begins with."""
    even = _even(line)
    return next((match for head in _HEADS if (match := head.match(even)) is not None), None)


def _even(line: str) -> str:
    """With plain spaces where a locale has narrow ones; of the same length."""
    return line.replace("\u202f", " ").replace("\xa0", " ")


def _thread(files: Files, name: str) -> str:
    """The chat's name, as the file has it; a second download of it has the same."""
    stem = name.rpartition("/")[2].rpartition(".")[0]
    if stem.lower() in ("_chat", "chat", ""):
        stem = files.path.stem
    return f"whatsapp:{_CHAT.sub('', _COPY.sub('', stem)) or 'chat'}"


FORMAT = Format(name="whatsapp", title="a WhatsApp chat", sniff=sniff, read=read, people=True)
