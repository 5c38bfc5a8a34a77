"""Redaction: what has to be found, what has to be left alone, and that hostile text costs no more than long text."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import ConfigError
from evaluator.redaction import KINDS, RedactionError, Redactor, find_personal
from evaluator.redaction.numbers import find_cards, find_phones
from evaluator.redaction.words import find_emails, find_keys

EMAILS = {
    "joe@example.com": "[email]",
    "Mail joe+tag@mail.example.co.uk.": "Mail [email].",
    "write to o'brien@example.ie now": "write to [email] now",
    "'joe@example.com'": "'[email]'",
    "<Joe Doe> joe_d.oe%x@sub-domain.example.org,": "<Joe Doe> [email],",
    "email=joe@example.com&x=1": "email=[email]&x=1",
    "müller@bücher.de": "[email]",
    "иван@почта.рф": "[email]",
    "संपर्क@डाटामेल.भारत": "[email]",
    "用户@例子.公司": "[email]",
    "请联系joe@example.com谢谢": "请联系[email]谢谢",
    "이메일은 joe@example.com으로": "이메일은 [email]으로",
    "a@xn--bcher-kva.xn--p1ai": "[email]",
    "postgres://user:hidden@db.example.com/x": "postgres://user:[email]/x",
}
PHONES = {
    # with the country's code
    "+49 30 123456": "[phone]",
    "+49 (0)30 123456": "[phone]",
    "+4915123456789": "[phone]",
    "0049 30 123456": "[phone]",
    "+1-202-555-0143": "[phone]",
    "+1 (415) 555-2671 x12": "[phone] x12",
    "+34 612 345 678": "[phone]",
    "+44 20 7946 0958": "[phone]",
    "+971 50 123 4567": "[phone]",
    "+2348031234567": "[phone]",
    "tel:+4930123456": "tel:[phone]",
    # without it: Germany, United Kingdom, France, Switzerland, Australia, Japan, Turkey
    "0151/23456789": "[phone]",
    "030 / 12345678": "[phone]",
    "(030) 1234567": "[phone]",
    "030 1234567 - 0151 2345678": "[phone] - [phone]",
    "07911 123456": "[phone]",
    "020 7946 0958": "[phone]",
    "01 23 45 67 89": "[phone]",
    "01.23.45.67.89": "[phone]",
    "079 123 45 67": "[phone]",
    "0412 345 678": "[phone]",
    "090-1234-5678": "[phone]",
    "電話090-1234-5678です": "電話[phone]です",
    "０９０－１２３４－５６７８": "[phone]",
    "0532 123 45 67": "[phone]",
    # North America, Brazil, Mexico, India, China, Russia, Italy
    "(202) 555-0143": "[phone]",
    "202-555-0143": "[phone]",
    "202.555.0143": "[phone]",
    "1-800-555-0199": "[phone]",
    "202-555-0143x12": "[phone]x12",
    "(11) 91234-5678": "[phone]",
    "11 91234-5678": "[phone]",
    "55 1234 5678": "[phone]",
    "98765 43210": "[phone]",
    "138 1234 5678": "[phone]",
    "8 (495) 123-45-67": "[phone]",
    "8-800-555-35-35": "[phone]",
    "347 1234567": "[phone]",
    # what only the word before tells
    "Call me at 5551234567": "Call me at [phone]",
    "my phone number is 07911123456": "my phone number is [phone]",
    "Tel. 12 34 56 78": "Tel. [phone]",
    "phone: 555-1234": "phone: [phone]",
    "Handynummer: 015123456789": "Handynummer: [phone]",
    "whatsapp 612345678": "whatsapp [phone]",
    "teléfono 612 345 678": "teléfono [phone]",
    "电话：13812345678": "电话：[phone]",
    "телефон 79123456789": "телефон [phone]",
    '{"phone_number": "5551234567"}': '{"phone_number": "[phone]"}',
    "mobile='07911123456'": "mobile='[phone]'",
}
CARDS = {
    "4111 1111 1111 1111": "[card]",
    "4111111111111111": "[card]",
    "4111-1111-1111-1111": "[card]",
    "card:4111111111111111.": "card:[card].",
    "4111 1111 1111 1111 12/27 123": "[card] 12/27 123",
    "5555555555554444": "[card]",
    "3782 822463 10005": "[card]",
    "378282246310005": "[card]",
    "6011111111111117": "[card]",
    "30569309025904": "[card]",
    "2223003122003222": "[card]",
    "4222222222222": "[card]",
}
_PEM = (
    "-----BEGIN {0}PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nAbCd0123456789==\n-----END {0}PRIVATE KEY-----"
)
KEYS = {
    "sk-proj-abc123def456ghi789jkl": "[key]",
    "AKIAIOSFODNN7EXAMPLE": "[key]",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a": "[key]",
    "xoxb-123456789012-abcdef": "[key]",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_123": "[key]",
    f"here:\n{_PEM.format('')}\nthanks": "here:\n[key]\nthanks",
    _PEM.format("RSA "): "[key]",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC": "[key]",
    "Authorization: Bearer abcDEF123456ghiJKL789": "Authorization: Bearer [key]",
    "Authorization: Basic dXNlcjpwYXNzd29yZDE=": "Authorization: Basic [key]",
    "api key: 9f86d081884c7d659a2feaa0c55ad015": "api key: [key]",
    "OPENAI_API_KEY=0123456789abcdef0123456789abcdef": "OPENAI_API_KEY=[key]",
    "'clientSecret': 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY1'": "'clientSecret': '[key]'",
}
LEFT_ALONE = (
    # dates and times
    "2024-01-15 10:30",
    "2024-01-15T10:30:00Z",
    "15/01/2024",
    "01.02.2024 12.30",
    "01-02-2024 10:30",
    "call 2024-01-15",
    "open 09:00 - 17:00",
    "12:30-13:45",
    "1914-1918 1939-1945",
    "2019 2020 2021 2022 2023",
    "1700000000000",
    # money and amounts
    "$1,234,567.89",
    "1 234 567,89 €",
    "+1 000 000",
    "+10 000 000 EUR",
    "1.234.567.890",
    "5 000 000 000",
    "from 1,000 to 10,000,000",
    # numbers of things
    "order 1234567890",
    "Order #302-445-9981",
    "ORD-2024-123-4567",
    "phone order 12345678",
    "iPhone 12345678",
    "ISBN 978-0-306-40615-7",
    "ISBN 0-306-40615-2",
    "EAN 4006381333931",
    "tracking 1Z999AA10123456784",
    "IBAN DE44500105175407324931",
    "4111111111111112",
    "550e8400-e29b-41d4-a716-446655440000",
    "1234567",
    "12 34 56 78",
    "612 345 678",
    "page 100-2000",
    "size 10-12-14 cm",
    "1/2 3/4 5/6 7/8",
    # places
    "10.20.30.40",
    "192.168.100.200",
    "52.520008, 13.404954",
    "v1.2.3.4",
    # numbers as such
    "3.14159265358979",
    "0.123456789",
    "0.0412178737",
    "0.0970691629617667",
    "shots 0314/0301 (2023-03) and 0613 (2023-06)",
    "GMT+0100",
    "5+12345678",
    # what looks like an address or a key
    "@username",
    "logo@2x.png",
    "user@localhost",
    "pkg@1.2.3",
    "sk-learn-based-classifiers-are-good",
    "monkey 9f86d081884c7d659a2feaa0c55ad015",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "the Bearer authentication-mechanism",
    "key board",
)
MUST = {"email": EMAILS, "phone": PHONES, "card": CARDS, "key": KEYS}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in MUST.items() for text in texts])
def test_personal_data_is_found_and_named(kind: str, text: str) -> None:
    """Each is found as what it is and as nothing else, and replaced as a whole."""
    assert find_personal(text) == (kind,)
    assert Redactor().redact(text) == MUST[kind][text]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_other_numbers_and_words_stay(text: str) -> None:
    """A date that is taken for a phone number would make an answer unreadable for the judge."""
    assert find_personal(text) == ()
    assert Redactor().redact(text) == text


def test_kinds_come_in_their_order_whatever_the_order_of_the_text() -> None:
    """The order of the kinds is fixed, so what is told is the same for every text."""
    assert find_personal("AKIAIOSFODNN7EXAMPLE 4111 1111 1111 1111, +49 30 123456, joe@example.com") == KINDS


def test_only_the_kinds_asked_for_are_taken_out() -> None:
    """What was not asked for stays."""
    redactor = Redactor(["email"])
    assert redactor.redact("joe@example.com, +49 30 123456") == "[email], +49 30 123456"
    assert redactor.counts == {"email": 1}


def test_finds_are_counted_over_all_texts() -> None:
    """The import tells the sum."""
    redactor = Redactor()
    for text in ("a@example.com b@example.com", "a@example.com", "nothing"):
        redactor.redact(text)
    assert redactor.counts == {"email": 3}


def test_own_patterns_see_the_text_first() -> None:
    """An own pattern knows better than a general one what the number is."""
    redactor = Redactor(KINDS, {"iban": r"[A-Z]{2}\d{2}(?: ?\d{4}){4} ?\d{2}"})
    assert redactor.redact("pay DE44 5001 0517 5407 3249 31, ask joe@example.com") == "pay [iban], ask [email]"


def test_what_was_taken_out_is_left_alone() -> None:
    """A pattern that fits everything does not eat the names of what went before."""
    redactor = Redactor(["email"], {"word": r"\w+"})
    assert redactor.redact("[email] joe [word]") == "[email] [word] [word]"


def test_a_match_that_cuts_into_a_name_takes_the_whole_of_it() -> None:
    """No half of a name is left behind."""
    assert Redactor([], {"line": "Name: .*"}).redact("Name: Joe [line], 12\nend") == "[line]\nend"


@pytest.mark.parametrize(
    ("patterns", "part"),
    [
        ({"email": "x"}, "email"),
        ({"hook": "x"}, "hook"),
        ({"a]b": "x"}, "a]b"),
        ({"": "x"}, "''"),
        ({"open": "("}, "redact_patterns.open"),
        ({"any": "x*"}, "empty text"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(patterns: dict[str, str], part: str) -> None:
    """The message names it."""
    with pytest.raises(ConfigError, match=re.escape(part)):
        Redactor(KINDS, patterns)


def test_an_unknown_kind_is_refused() -> None:
    """A typing error must not leave data in."""
    with pytest.raises(ConfigError, match="e-mail"):
        Redactor(["e-mail"])


def test_the_hook_comes_last_and_is_counted_when_it_changed_something() -> None:
    """It sees what the rules have left."""
    seen: list[str] = []

    def hook(text: str) -> str:
        seen.append(text)
        return text.replace("Joe", "[name]")

    redactor = Redactor(["email"], {}, hook)
    assert redactor.redact("Joe, joe@example.com") == "[name], [email]"
    assert redactor.redact("nobody") == "nobody"
    assert seen == ["Joe, [email]", "nobody"]
    assert redactor.counts == {"email": 1, "hook": 1}


@pytest.mark.parametrize("broken", [lambda _: 1 / 0, lambda _: None, lambda text: text.encode()])
def test_a_hook_that_fails_fails_the_text_without_quoting_it(broken: Callable[[str], str]) -> None:
    """The message goes to the screen and into files: it must not carry what should have been taken out."""
    with pytest.raises(RedactionError) as caught:
        Redactor([], {}, broken).redact("my secret")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


PIECES = [
    *(text for texts in MUST.values() for text in texts),
    *LEFT_ALONE,
    *(f"[{kind}]" for kind in KINDS),
    *" ,.;:-/()[]@+#$€\n\t",
    "a", "1", "0", "call ", "key=", "Bearer ", "é", "用", "-----", "x12",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=60)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    """An answer that is imported again, or exported and imported, keeps its text and so its identity."""
    once = Redactor().redact(text)
    again = Redactor()
    assert again.redact(once) == once
    assert not again.counts


@given(TEXTS, st.sampled_from([r"\w+", r"\d{2,}", r"[^\n]+", r"a|\[|@", r"\[?[a-z]+", r".\Z", r"(?<=1)."]))
@settings(max_examples=300, deadline=None)
def test_own_patterns_end_and_are_idempotent(text: str, pattern: str) -> None:
    """Whatever a pattern fits, it does not go round in circles."""
    once = Redactor(KINDS, {"own": pattern}).redact(text)
    assert Redactor(KINDS, {"own": pattern}).redact(once) == once


@given(st.sampled_from(list(PHONES)), st.sampled_from(list(EMAILS)))
@settings(max_examples=60, deadline=None)
def test_finds_do_not_hide_one_another(phone: str, email: str) -> None:
    """What stands on other lines changes nothing."""
    assert Redactor().redact(f"{phone}\n{email}\n{phone}") == f"{PHONES[phone]}\n{EMAILS[email]}\n{PHONES[phone]}"


SIZE = 200_000
HOSTILE = (
    "1 ", "1", "1-", "(1", "+1 ", "0 / 1", "03 ", "1/1/", "4111 ", "4111 1111 1111 1111 ", "01 23 45 67 89 ",
    "a@", "a.", "'a", "a@a.a", "用", "用@", "a.@", "key", "key=", "key ", "Bearer ", "phone ", "tel: 1",
    "eyJaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAA",
    "sk-", "ghp_", "-----", "+", "a", " ",
)  # fmt: skip
FINDERS: tuple[Callable[[str], Iterator[tuple[int, int]]], ...] = (find_emails, find_phones, find_cards, find_keys)


def cpu_seconds(find: Callable[[str], Iterator[tuple[int, int]]], text: str) -> float:
    """CPU time of reading all finds."""
    started = time.process_time()
    for _ in find(text):
        pass
    return time.process_time() - started


@pytest.mark.parametrize("find", FINDERS, ids=lambda find: find.__name__)
def test_hostile_text_costs_no_more_than_its_length(find: Callable[[str], Iterator[tuple[int, int]]]) -> None:
    """Twice the text takes about twice the time; a pattern that goes back and forth would take four times or forever.

    The bound is relative to a plain scan of words of the same length, with room for a slow machine.
    """

    def words(text: str) -> Iterator[tuple[int, int]]:
        return (found.span() for found in re.finditer(r"\w", text))

    plain = cpu_seconds(words, "a " * (SIZE // 2)) + 0.01
    for unit in HOSTILE:
        for end in ("", "a", "%", "@"):
            text = unit * (SIZE // len(unit)) + end
            assert cpu_seconds(find, text) < 40 * plain, (unit, end)
