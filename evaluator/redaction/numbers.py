"""Finds phone and card numbers: what is known by its digits and how they are grouped.

A run of digits with separators is taken as a whole, then judged by its groups. Digits without any separator are a phone
number only after a plus sign or after a word like "phone": else they are as well an order number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SPACES = " \u00a0\u2009\u202f"
_DASHES = "\\-\u2010\u2011\u2012\u2013\u2212\uff0d"
_PHONE_RUN = re.compile(
    # not within a word, a code, a fraction, an address or a sum of money
    r"(?<![A-Za-z0-9_#$€£¥])(?<![A-Za-z0-9_][/+_\-])(?<!\d[.,:])(?<![$€£¥] )"
    rf"[+＋]?[(]?\d(?:[{_SPACES}{_DASHES}()./]{{0,3}}+\d)*+"
)
_CARD_RUN = re.compile(rf"(?<![A-Za-z0-9_])(?<!\d[.,])\d(?:[{_SPACES}{_DASHES}]{{0,2}}+\d)*+")
# What may not follow: tried after a run is found, since a pattern that fails at its end is tried from every group.
_AFTER_PHONE = re.compile(r"\s?[%€$£¥]|(?![xX]\d)[A-Za-z_]")
_AFTER_CARD = re.compile(r"[A-Za-z_]")
_GROUP = re.compile(r"\d+")
_STRONG = re.compile(rf"[{_SPACES}]+[/{_DASHES}][{_SPACES}]*|[{_SPACES}]{{2,}}")  # parts two numbers, maybe

_MIN_DIGITS, _MAX_DIGITS = 7, 15
_MIN_CARD, _MAX_CARD = 13, 19
_WORDS_BEFORE = 60

_PHONE_WORD = re.compile(
    r"(?:(?<![^\W\d_])(?:(?:tele)?phone|tel|tél|cell(?:phone)?|mobile?|handy(?:nummer)?|ruf(?:nummer)?|telefon(?:nummer)?"
    r"|téléphone|portable|tel[eé]fono|m[oó]vil|celular|telefone|whatsapp|fax|call|dial|sms|anrufen|appele[rz]|llam[ae]r?"
    r"|телефон\w{0,2}|тел|звони\w{0,3}|هاتف|फ़ोन)|電話|电话|手机|전화|โทร)"
    r"(?:[\s:.()=\-–：号番号는은_\"']|(?<![^\W_])(?:number|num|no|nr|nummer|numéro|número|numero|номер|is|at|me|us|him|her|them|back|on"
    r"|under|unter|ist|lautet|est|es|al|au|my|your|the|line|or|home|work|office)\b){0,8}$",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?<!\d)(?:(?:0?[1-9]|[12]\d|3[01])([./\-])(?:0?[1-9]|1[0-2])\1(?:(?:19|20)\d\d|\d\d)"
    r"|(?:0?[1-9]|1[0-2])([./\-])(?:0?[1-9]|[12]\d|3[01])\2(?:(?:19|20)\d\d|\d\d)"
    r"|(?:19|20)\d\d([./\-])(?:0?[1-9]|1[0-2])\3(?:0?[1-9]|[12]\d|3[01]))(?!\d)"
)
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_PAIRS = re.compile(r"0[1-9](?:[ .\-]?)(?:\d\d[ .\-]){3}\d\d")
# Groups of digits, parted by anything, as people write them where no zero leads.
_SHAPES = re.compile(
    r"(?:1 )?[2-9]\d\d \d{3} \d{4}"  # North America
    r"|[78] \d{3} \d{3} \d\d \d\d"  # Russia
    r"|\d{3} \d{3} \d\d \d\d"  # Turkey, Ukraine
    r"|[1-9]\d 9\d{4} \d{4}"  # Brazil
    r"|[6-9]\d{4} \d{5}"  # India
    r"|1[3-9]\d \d{4} \d{4}"  # China
    r"|[2-9]\d \d{4} \d{4}"  # Mexico
    r"|3\d\d \d{6,7}"  # Italy
)
_CARD_SHAPE = re.compile(r"\d{13,19}|(?:\d{4} ){3}\d{1,7}|(?:\d{4} ){4}\d{1,3}|\d{4} \d{6} \d{4,5}|\d{6} \d{7,13}")
# Length and first digits of the brands: most years and time stamps are none.
_CARD_BRANDS = re.compile(
    r"4\d{12}(?:\d{3}(?:\d{3})?)?|3(?:0|6|8|9)\d{12}|3[47]\d{13}"
    r"|(?:2(?:2[0-9]|[3-6]\d|7[012])|35\d|[56]\d\d)\d{13}|[56]\d{11,18}"
)


@dataclass(frozen=True, kw_only=True)
class _Run:
    """A run of digits: its text with plain digits, their groups, and whether it stands after a word like "phone"."""

    text: str
    groups: tuple[str, ...]
    is_named: bool

    @property
    def digits(self) -> str:
        return "".join(self.groups)


def find_phones(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each phone number, in order."""
    for found in _PHONE_RUN.finditer(text):
        start, end = found.span()
        if end - start < _MIN_DIGITS or _AFTER_PHONE.match(text, end):
            continue
        named = _PHONE_WORD.search(text[max(0, start - _WORDS_BEFORE) : start]) is not None
        yield from _phones_within(text, start, end, named=named)


def _phones_within(text: str, start: int, end: int, *, named: bool) -> Iterator[tuple[int, int]]:
    if _is_phone(_run(text[start:end], named=named)):
        yield start, end
        return
    cuts = [cut.span() for cut in _STRONG.finditer(text, start, end)]
    if cuts:
        starts, ends = [start, *(high for _, high in cuts)], [*(low for low, _ in cuts), end]
        for low, high in zip(starts, ends, strict=True):
            if high - low >= _MIN_DIGITS and _is_phone(_run(text[low:high], named=named)):
                yield low, high


def _run(text: str, *, named: bool) -> _Run:
    plain = "".join(str(int(sign)) if sign.isdecimal() else sign for sign in text)
    return _Run(text=plain, groups=tuple(_GROUP.findall(plain)), is_named=named)


def _is_phone(run: _Run) -> bool:
    digits = run.digits
    if not _MIN_DIGITS <= len(digits) <= _MAX_DIGITS + 2 * digits.startswith("00"):
        return False
    if run.text[0] in "+＋":
        return _is_international(run)
    if _PAIRS.fullmatch(run.text):
        return True
    if _DATE.search(run.text) or _ADDRESS.fullmatch(run.text):
        return False
    if run.is_named:
        return True
    return len(run.groups) > 1 and (_is_national(run) or _SHAPES.fullmatch(" ".join(run.groups)) is not None)


def _is_international(run: _Run) -> bool:
    """With a plus sign; a gain written as +1 000 000 is none."""
    if run.digits[0] == "0" or len(run.digits) < 8:
        return False
    in_thousands = len(run.groups) > 1 and all(len(group) == 3 for group in run.groups[1:])
    return not (in_thousands and (len(run.digits) < 10 or run.groups[-1] == "000"))


def _is_national(run: _Run) -> bool:
    """A leading zero, or an area code in brackets."""
    first, digits = run.groups[0], run.digits
    if digits.startswith("00"):
        return first.startswith("00") and digits[2] != "0" and 11 <= len(digits) <= _MAX_DIGITS + 2
    if digits[0] == "0":
        return "(" not in run.text[1:] and 2 <= len(first) <= 6 and 9 <= len(digits) <= 12
    is_year = re.fullmatch(r"(?:19|20)\d\d", first) is not None
    return run.text[0] == "(" and f"({first})" in run.text and 2 <= len(first) <= 5 and not is_year and len(digits) >= 8


def find_cards(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each payment card number, in order: 13 to 19 digits of a known brand, checked by Luhn."""
    for found in _CARD_RUN.finditer(text):
        if found.end() - found.start() >= _MIN_CARD and not _AFTER_CARD.match(text, found.end()):
            groups = [group.span() for group in _GROUP.finditer(text, *found.span())]
            yield from _cards_within(text, groups)


def _cards_within(text: str, groups: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cards among groups of digits: what stands before or after, a date or a code, is not part of them."""
    first = 0
    while first < len(groups):
        last = next((last for last in _last_groups(groups, first) if _is_card(text, groups[first : last + 1])), None)
        if last is None:
            first += 1
        else:
            yield groups[first][0], groups[last][1]
            first = last + 1


def _last_groups(groups: Sequence[tuple[int, int]], first: int) -> list[int]:
    """Where a card that starts with a group could end, longest first."""
    n_digits = 0
    ends: list[int] = []
    for last in range(first, min(first + 5, len(groups))):
        n_digits += groups[last][1] - groups[last][0]
        if n_digits > _MAX_CARD:
            break
        if n_digits >= _MIN_CARD:
            ends.append(last)
    return ends[::-1]


def _is_card(text: str, groups: Sequence[tuple[int, int]]) -> bool:
    parts = ["".join(str(int(sign)) for sign in text[start:end]) for start, end in groups]
    digits = "".join(parts)
    return (
        _CARD_SHAPE.fullmatch(" ".join(parts)) is not None
        and _CARD_BRANDS.fullmatch(digits) is not None
        and len(set(digits)) > 1
        and _luhn_sum(digits) % 10 == 0
    )


def _luhn_sum(digits: str) -> int:
    doubled = [2 * int(sign) for sign in digits[-2::-2]]
    return sum(int(sign) for sign in digits[-1::-2]) + sum(value // 10 + value % 10 for value in doubled)
