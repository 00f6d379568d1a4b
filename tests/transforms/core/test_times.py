# ruff: noqa: RUF001 - letters that look like others are what is tested
"""Text to instants: every form of the landing contract, and what is no instant."""

from datetime import UTC, datetime, timedelta, timezone

import polars as pl
from each import each
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.core.times import time_from_text

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere


def instants(texts):
    frame = pl.DataFrame({"text": texts}, schema={"text": pl.String})
    return frame.select(time_from_text(pl.col("text"))).to_series().to_list()


def instant(text):
    return instants([text])[0]


def utc(*parts):
    return datetime(*parts)  # noqa: DTZ001


@each(
    ("text", "expected"),
    [
        ("2026-03-10", utc(2026, 3, 10)),
        ("2026-03-10 08:05:09", utc(2026, 3, 10, 8, 5, 9)),
        ("2026-03-10T08:05", utc(2026, 3, 10, 8, 5)),
        ("2026-03-10t08:05:09z", utc(2026, 3, 10, 8, 5, 9)),
        ("2026-03-10T08:05:09Z", utc(2026, 3, 10, 8, 5, 9)),
        ("2026-03-10 08:05:09 UTC", utc(2026, 3, 10, 8, 5, 9)),
        ("2026-03-10T08:05:09.1", utc(2026, 3, 10, 8, 5, 9, 100_000)),
        ("2026-03-10T08:05:09,000001Z", utc(2026, 3, 10, 8, 5, 9, 1)),
        ("2026-03-10T08:05:09.123456999Z", utc(2026, 3, 10, 8, 5, 9, 123_456)),
        ("1969-12-31T23:59:59.9999999Z", utc(1969, 12, 31, 23, 59, 59, 999_999)),
        ("2026-03-10T08:05:09+02:00", utc(2026, 3, 10, 6, 5, 9)),
        ("2026-03-10T08:05:09-0930", utc(2026, 3, 10, 17, 35, 9)),
        ("2026-03-10T00:05:09+05", utc(2026, 3, 9, 19, 5, 9)),
        ("2026-03-10T08:05:09 +02:00", utc(2026, 3, 10, 6, 5, 9)),
        ("  2026-03-10T08:05:09Z\n", utc(2026, 3, 10, 8, 5, 9)),
        ("2024-02-29", utc(2024, 2, 29)),
        ("0001-01-01", utc(1, 1, 1)),
        ("9999-12-31T23:59:59.999999", utc(9999, 12, 31, 23, 59, 59, 999_999)),
        ("1969-07-20T20:17:40Z", utc(1969, 7, 20, 20, 17, 40)),
        ("0", EPOCH),
        ("-1", utc(1969, 12, 31, 23, 59, 59)),
        ("+1700000000", utc(2023, 11, 14, 22, 13, 20)),
        ("1700000000.000001", utc(2023, 11, 14, 22, 13, 20, 1)),
        ("1.7e9", utc(2023, 11, 14, 22, 13, 20)),
        ("1700000000123", utc(2023, 11, 14, 22, 13, 20, 123_000)),
        ("1700000000123.456", utc(2023, 11, 14, 22, 13, 20, 123_456)),
        ("99999999999", EPOCH + timedelta(seconds=99_999_999_999)),
        ("100000000000", EPOCH + timedelta(milliseconds=100_000_000_000)),
        ("-99999999999", None),  # in seconds: before the year 1
        ("-100000000000", EPOCH - timedelta(milliseconds=100_000_000_000)),
        ("99999999999.5", EPOCH + timedelta(seconds=99_999_999_999.5)),
        ("100000000000.5", EPOCH + timedelta(milliseconds=100_000_000_000.5)),
        ("1e11", EPOCH + timedelta(milliseconds=10**11)),
    ],
)
def test_accepted(text, expected):
    assert instant(text) == expected


@each(
    "text",
    [
        "", " ", "yesterday", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-32", "2026-01-00", "0000-01-01",
        "2026-03-10T24:00:00", "2026-03-10T23:60:00", "2026-03-10T23:59:60", "2026-03-10T23:59:61", "2026-03-10T08",
        "2026-03-10T08:05:09.", "2026-03-10T08:05:09.1234567890", "2026-03-10T08:05:09+24:00", "2026-3-1",
        "2026-03-10T08:05:09+02:60", "2026-03-10T08:05:09 CET", "2026-03-10T08:05:09+2", "10.03.2026", "03/10/2026",
        "2026-03-10T08:05:09Z tomorrow", "x2026-03-10", "12026-03-10", "-2026-03-10", "nan", "inf", "-inf", "NaN",
        "1e400", "1e300", "1e19", "9223372036854775807", "-9223372036854775808", "-9223372036854775807",
        "1_700_000_000", "99999999999999999999", "-62135596801", "253402300800000", "9999-12-31T23:59:59-00:01", "0x10",
        "--1", "1 2",
        "0001-01-01T00:00:00+00:01", "٢٠٢٦-٠٣-١٠", "2026-03-10T08:05:09+٠٥:٠٠", "2026-03-10T08:05:09.٥", "٣",
    ],
)  # fmt: skip
def test_no_instant(text):
    assert instant(text) is None


def test_null_stays_null():
    assert instants([None, "2026-03-10", None]) == [None, utc(2026, 3, 10), None]


@given(
    date=st.tuples(st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32)),
    clock=st.none() | st.tuples(st.integers(0, 24), st.integers(0, 60), st.none() | st.integers(0, 61)),
    fraction=st.text("0123456789", max_size=9),
    separator=st.sampled_from("Tt "),
    sign=st.sampled_from("+-"),
    offset=st.none() | st.tuples(st.integers(0, 25), st.none() | st.integers(0, 61)),
    colon=st.booleans(),
)
def test_every_written_form_is_the_instant_it_says_or_none(date, clock, fraction, separator, sign, offset, colon):
    year, month, day = date
    text = f"{year:04}-{month:02}-{day:02}"
    hour = minute = second = micros = 0
    if clock is not None:
        hour, minute, second = clock
        text += f"{separator}{hour:02}:{minute:02}"
        if second is not None:
            text += f":{second:02}" + (f".{fraction}" if fraction else "")
            micros = int((fraction + "000000")[:6])
        second = second or 0
    shift = timedelta()
    possible = True
    if offset is not None:
        hours, minutes = offset
        text += f"{sign}{hours:02}" + ("" if minutes is None else f"{':' if colon else ''}{minutes:02}")
        possible = hours < 24 and (minutes or 0) < 60
        shift = timedelta(hours=hours, minutes=minutes or 0) * (-1 if sign == "-" else 1)
    try:
        expected = utc(year, month, day, hour, minute, second, micros) - shift if possible else None
    except (ValueError, OverflowError):
        expected = None
    assert instant(text) == expected


@given(
    st.datetimes(timezones=st.none() | st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))),
    st.sampled_from("T "),
    st.sampled_from(["auto", "minutes", "seconds", "milliseconds", "microseconds"]),
)
def test_agrees_with_datetime_fromisoformat(moment, separator, timespec):
    text = moment.isoformat(separator, timespec)
    read = datetime.fromisoformat(text)
    try:
        expected = read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo else read
    except OverflowError:
        expected = None
    assert instant(text) == expected


LAST_MS = 253_402_300_799_999  # the last millisecond of the year 9999


@given(
    st.integers(-(10**15), 10**15)
    | st.integers(10**11 - 5, 10**11 + 5)
    | st.integers(LAST_MS - 5, LAST_MS + 5)
    | st.integers(10**15 - 5, 10**15 + 5)
    | st.integers(1000 * LAST_MS, 1000 * LAST_MS + 2000)
    | st.integers(10**18 - 5, 10**18 + 5)
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers()
)
def test_the_size_of_a_whole_epoch_tells_its_unit(number):
    try:
        if abs(number) < 10**11:
            expected = EPOCH + timedelta(seconds=number)
        elif number < 10**15:
            expected = EPOCH + timedelta(milliseconds=number)
        elif number < 10**18:
            expected = EPOCH + timedelta(microseconds=number)
        else:
            expected = EPOCH + timedelta(microseconds=number // 1000) if number < 2**63 - 1 else None
    except OverflowError:
        expected = None
    assert instant(str(number)) == expected


@given(st.datetimes(utc(1970, 1, 1), utc(2105, 12, 31)))
def test_microseconds_survive_an_epoch_written_with_a_point_until_2106(moment):
    micros = (moment - EPOCH) // timedelta(microseconds=1)
    assert instant(f"{micros // 10**6}.{micros % 10**6:06}") == moment
    if micros >= 10**14:
        assert instant(f"{micros // 1000}.{micros % 1000:03}") == moment


@given(st.text(max_size=30))
def test_no_text_raises(text):
    found = instant(text)
    assert found is None or isinstance(found, datetime)
