"""What importing the statistics costs, and what the package offers."""

import subprocess
import sys

import pytest

import evaluator.stats

MODULES = ("correction", "detector", "evidence", "intervals", "monitor", "numeric", "paired", "recheck", "segments")
SPLITTING = ("attribution", "clusters", "corrected", "share_errors", "shares", "steadying", "verdict")


def test_no_module_pulls_in_the_slow_libraries():
    """The read path pays for neither statsmodels nor scipy.stats nor pandas."""
    imports = "; ".join(f"import evaluator.stats.{name}" for name in MODULES + SPLITTING)
    check = "import sys; print(sorted({'statsmodels', 'scipy.stats', 'pandas', 'sqlite3'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", f"{imports}; {check}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_itself_imports_nothing_of_its_own():
    """Names are fetched when first used."""
    check = "import evaluator.stats, sys; print(any(n.startswith('evaluator.stats.') for n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", evaluator.stats.__all__)
def test_every_public_name_is_there(name):
    """And has a docstring."""
    assert getattr(evaluator.stats, name).__doc__


def test_unknown_name_is_an_attribute_error():
    """As for any module."""
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = evaluator.stats.no_such_name
