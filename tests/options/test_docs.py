import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_says_what_the_catalogues_say() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "options_page.py"))

    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")

    assert page == tool["render"](), "run: python tools/options_page.py"
