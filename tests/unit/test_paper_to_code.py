"""docs/paper-to-code.md names places that exist."""

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs/paper-to-code.md").read_text(encoding="utf-8")
PLACES = sorted(set(re.findall(r"`([\w/.-]+\.(?:py|smk|yaml)(?:::\w+)?)`", PAGE)))


def test_the_page_names_places():
    assert len(PLACES) > 40


@pytest.mark.parametrize("place", PLACES)
def test_a_named_place_exists(place):
    file, _, name = place.partition("::")
    folders = [ROOT / "src/aiayn", ROOT] if "/" in file else [ROOT]
    paths = [folder / file for folder in folders if (folder / file).is_file()]
    assert paths, f"{file} is no file"
    if name:
        definition = rf"^(?:class|def|rule) {name}\b|^{name}\b.*="
        assert re.search(definition, paths[0].read_text(encoding="utf-8"), re.MULTILINE), place
