"""Text to UTC microseconds, by the landing contract."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import polars as pl

# Epoch numbers from this size on are milliseconds (the landing contract).
EPOCH_MILLISECONDS_FROM = 100_000_000_000
_EPOCH = date(1970, 1, 1)
FIRST_MONDAY = 4  # 1970-01-05, in days since 1970
_LAST_HOUR, _LAST_MINUTE, _LAST_SECOND = 23, 59, 59
# 0001-01-01 and 9999-12-31T23:59:59.999999, the instants every engine here can hold and print.
EARLIEST_US = -62_135_596_800_000_000
LATEST_US = 253_402_300_799_999_999
# Larger ones are micro- and nanoseconds, from 2001-09-09 on: what lies between is no time, nor are the smallest and the
# greatest Int64, which programs write for a time that they do not know.
EPOCH_MICROSECONDS_FROM = 10**15
EPOCH_NANOSECONDS_FROM = 10**18
EPOCH_NANOSECONDS_BELOW = 2**63 - 1
# The zero values of clocks: of Go and .NET, and of Unix. Programs write them for a time that they do not know.
ZERO_TIMES = (datetime(1, 1, 1), datetime(1970, 1, 1))  # noqa: DTZ001 - naive times hold UTC

# [0-9], not \d, which takes the digits of every script
ISO = (
    r"^\s*(?P<y>[0-9]{4})-(?P<mo>[0-9]{2})-(?P<d>[0-9]{2})"
    r"(?:[Tt ](?P<h>[0-9]{2}):(?P<mi>[0-9]{2})(?::(?P<s>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)?)?"
    r"\s*(?P<z>[Zz]|UTC|(?P<sign>[+-])(?P<oh>[0-9]{2}):?(?P<om>[0-9]{2})?)?\s*$"
)
WHOLE_NUMBER = r"^\s*[+-]?[0-9]+\s*$"
NUMBER = r"^\s*[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\s*$"


def time_from_text(text: pl.Expr) -> pl.Expr:
    """Datetime('us') holding UTC, or NULL where the text is no instant.

    ISO-8601 with any offset (none is UTC), a date alone (its midnight), `YYYY-MM-DD HH:MM:SS`, or an epoch in seconds
    (milliseconds from 10¹¹ on, microseconds from 10¹⁵, nanoseconds from 10¹⁸). What is smaller than a microsecond is
    cut off.
    """
    part = text.str.extract_groups(ISO)

    def number(name: str) -> pl.Expr:
        return part.struct.field(name).cast(pl.Int64, strict=False).fill_null(0)

    clock = pl.format(
        "{}-{}-{} {}:{}:{}",
        part.struct.field("y"),
        part.struct.field("mo"),
        part.struct.field("d"),
        part.struct.field("h").fill_null("00"),
        part.struct.field("mi").fill_null("00"),
        part.struct.field("s").fill_null("00"),
    ).str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us", strict=False)
    fraction_us = (
        part.struct.field("f")
        .fill_null("")
        .str.pad_end(6, "0")
        .str.slice(0, 6)
        .cast(pl.Int64, strict=False)
        .fill_null(0)
    )
    offset_valid = (number("oh") <= _LAST_HOUR) & (number("om") <= _LAST_MINUTE)
    offset_us = (number("oh") * 60 + number("om")) * 60_000_000
    offset_us = pl.when(part.struct.field("sign") == "-").then(-offset_us).otherwise(offset_us)
    # chrono reads second 60 as a leap second; the instant does not exist on the UTC microsecond line
    valid = offset_valid & (number("s") <= _LAST_SECOND)
    iso_us = pl.when(valid).then(clock.dt.timestamp("us") + fraction_us - offset_us)
    return datetime_in_range(pl.coalesce(iso_us, _epoch_us(text)))


def _epoch_us(text: pl.Expr) -> pl.Expr:
    """Integers stay integers all the way; with a point a float tells microseconds only until 2106 (2³² seconds)."""
    is_number = text.str.contains(NUMBER)
    whole = text.str.strip_chars().str.strip_prefix("+").cast(pl.Int64, strict=False)
    real = pl.when(is_number).then(text.str.strip_chars()).cast(pl.Float64, strict=False)

    # compared with two bounds: the smallest Int64 has no absolute value
    is_seconds = whole.is_between(-EPOCH_MILLISECONDS_FROM, EPOCH_MILLISECONDS_FROM, closed="none")
    whole_us = (
        pl.when(is_seconds).then(whole * 1_000_000)
        .when(whole.is_between(EARLIEST_US // 1000, LATEST_US // 1000)).then(whole * 1000)
        .when(whole.is_between(EPOCH_MICROSECONDS_FROM, LATEST_US)).then(whole)
        .when(whole.is_between(EPOCH_NANOSECONDS_FROM, EPOCH_NANOSECONDS_BELOW - 1)).then(whole // 1000)
    )  # fmt: skip
    whole_us = pl.when(is_number).then(whole_us)
    real_us = (
        pl.when(real.abs() < EPOCH_MILLISECONDS_FROM).then(real * 1_000_000.0)
        .when(real < EPOCH_MICROSECONDS_FROM).then(real * 1000.0)
        .when(real < EPOCH_NANOSECONDS_FROM).then(real)
        .when(real < EPOCH_NANOSECONDS_BELOW).then(real / 1000.0)
        .round()
    )  # fmt: skip
    is_whole = text.str.contains(WHOLE_NUMBER)
    real_us = pl.when(~is_whole & real_us.is_between(EARLIEST_US, LATEST_US)).then(real_us)
    return pl.coalesce(whole_us, real_us.cast(pl.Int64, strict=False))


def epoch_microseconds(number: float) -> float:
    """Return an epoch number, in the unit that its size tells, in microseconds.

    Raises:
        OverflowError: no unit makes it a time.
    """
    if abs(number) < EPOCH_MILLISECONDS_FROM:
        return number * 1_000_000
    if number < EPOCH_MICROSECONDS_FROM:
        return number * 1000
    if number < EPOCH_NANOSECONDS_FROM:
        return number
    if number < EPOCH_NANOSECONDS_BELOW:
        return number // 1000
    message = f"no epoch: {number}"
    raise OverflowError(message)


def datetime_in_range(us: pl.Expr) -> pl.Expr:
    """Return microseconds since 1970 as an instant, NULL where no engine here can hold and print it."""
    return pl.when(us.is_between(EARLIEST_US, LATEST_US)).then(us).cast(pl.Datetime("us"))


def midnight(epoch_day: int) -> datetime:
    """The start of a UTC day, given in days since 1970."""
    return datetime.combine(_EPOCH + timedelta(days=epoch_day), time())


def epoch_day(instant: datetime) -> int:
    """The UTC day of an instant, in days since 1970."""
    return (instant.date() - _EPOCH).days
