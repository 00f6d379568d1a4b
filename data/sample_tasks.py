"""What the team of the sample logs works on: the parts of its software, what goes wrong there, and what is wanted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bug:
    """A fault as a person reports it, and what an agent finds and does about it."""

    symptom: str
    cause: str
    fix: str


@dataclass(frozen=True)
class Part:
    """A part of the software and what there is to do about it.

    `case` and `column` fit into a sentence: what a test must cover, and what a migration adds to `table`.
    """

    name: str
    path: str
    test: str
    table: str
    upstream: str
    person: str
    case: str
    column: str
    features: tuple[str, ...]
    bugs: tuple[Bug, ...]


SHOP = (
    Part("checkout", "shop/checkout/session.py", "tests/checkout/test_session.py", "orders", "payment gateway", "Ana",
         "a customer who pays twice from two tabs", "paid_at",
         ("payment by invoice for business customers", "a field for the customer's own order number",
          "a warning before the session ends"),
         (Bug("Some customers are charged twice when they press Pay again after a timeout.",
              "The retry sends a new idempotency key, so the gateway takes it for a second payment.",
              "The key is made from the order now and stays the same in every retry."),
          Bug("Checkout hangs for about a minute for customers with an address in Ireland.",
              "The postcode field is optional there, and the lookup waits for an answer that never comes.",
              "Without a postcode the lookup is skipped, and it gives up after three seconds in any case."),
          Bug("After login in the checkout the basket is empty.",
              "The session gets a new id at login, and the basket stays with the old one.",
              "The basket moves to the new session before the old one is dropped."))),
    Part("basket", "shop/cart/reducer.ts", "tests/cart/reducer.test.ts", "order_lines", "tax rate feed", "Esra",
         "a quantity of zero", "unit_price_cents",
         ("saving the basket for later", "a note when the price has changed since yesterday"),
         (Bug("The total is one cent off when a discount applies to three items.",
              "Each line is rounded before the sum, and thirds do not add up.",
              "The discount is taken from the sum, and the rest goes to the last line."),
          Bug("Removing the last item leaves the delivery costs in the total.",
              "Delivery is only worked out again when a line changes, not when there is none left.",
              "An empty basket sets delivery to zero."),
          Bug("Safari shows yesterday's prices in the basket.",
              "The response is cached because it has no Vary header.",
              "The basket is sent with no-store now."))),
    Part("voucher service", "shop/vouchers/validate.py", "tests/vouchers/test_validate.py", "vouchers",
         "fraud scoring service", "Ana", "a voucher that ends at midnight", "used_at",
         ("vouchers for one product group only", "a list of vouchers in the customer's account"),
         (Bug("A voucher for one use was redeemed nine times within a second.",
              "Whether it was used is read and written in two statements, with nothing in between to stop others.",
              "One update with a condition does both, and the second request is told that it came too late."),
          Bug("Someone typed '; DROP TABLE orders; -- as a voucher code and got a page with a stack trace.",
              "The code is bound correctly, but the error page prints the exception.",
              "Codes with other characters than letters and digits are refused with a plain message."),
          Bug("Vouchers end two hours too early for customers in Finland.",
              "The end is compared as a date in UTC, but people read it as their own midnight.",
              "The end is stored with the time zone of the shop and compared there."))),
    Part("stock reservation", "shop/stock/reserve.py", "tests/stock/test_reserve.py", "stock_levels",
         "parcel carrier API", "Esra", "two orders for the last item", "reserved_until",
         ("reserving for thirty minutes instead of ten", "a message to the buyer when stock runs low"),
         (Bug("We sold 14 of a lamp of which we had 9.",
              "The reservation reads the replica, which was eleven seconds behind during the sale.",
              "Reservations read from the primary; the product page may stay on the replica."),
          Bug("Abandoned baskets keep their reservation until the next morning.",
              "The job that frees them stops at the first row it cannot lock.",
              "Locked rows are skipped and tried again a minute later."))),
    Part("order mailer", "shop/mail/send.py", "tests/mail/test_send.py", "customers", "mail provider", "Ana",
         "a customer without a first name", "mail_language",
         ("the parcel's tracking link in the confirmation", "confirmations in French"),
         (Bug("Confirmations to web.de addresses arrive three hours late.",
              "The provider defers us there, because the new sending host has no SPF entry.",
              "The host is in the SPF record now; the queue went down within ten minutes."),
          Bug("The mail says 'Hello None' to guests.",
              "Guests have no name, and the template prints what it is given.",
              "The greeting leaves the name out where there is none."))),
    Part("product search", "shop/search/query.py", "tests/search/test_query.py", "products", "search cluster", "Esra",
         "a search for an umlaut", "search_rank",
         ("suggestions while typing", "a filter by delivery time"),
         (Bug("Searching for 'tee' shows T-shirts before tea.",
              "The stemmer cuts both to the same word, and the more popular product wins.",
              "An exact match of a whole word now counts three times."),
          Bug("Page 11 of the results is empty although 140 products are found.",
              "The cluster answers at most 100 products per query and says nothing.",
              "Later pages use a cursor instead of an offset."))),
)  # fmt: skip

DATA = (
    Part("ingest gateway", "pipelines/ingest/gateway.py", "tests/ingest/test_gateway.py", "events_raw", "event broker",
         "Bogdan", "an event without a key", "received_at",
         ("a dead-letter topic for events that cannot be read", "gzip in requests"),
         (Bug("About 2 percent of the events of one customer never arrive.",
              "Their clock is five minutes ahead, and we refuse events from the future.",
              "Up to fifteen minutes are accepted now, with a warning in the log."),
          Bug("The gateway answers 500 to batches with an emoji in a label.",
              "The length is checked in characters and cut in bytes, in the middle of the emoji.",
              "Labels are cut at a character, and the limit is in bytes in both places."))),
    Part("compaction job", "pipelines/compaction/plan.py", "tests/compaction/test_plan.py", "events_clean",
         "object store", "Bogdan", "a day with one file", "compacted_at",
         ("skipping days that did not change", "a dry run that lists what it would merge"),
         (Bug("Compaction of 3 March never ends.",
              "One file of that day is empty, and the planner merges it with itself forever.",
              "Empty files are dropped from the plan before the merge."),
          Bug("After compaction some days have fewer rows than before.",
              "Two runs started together, and the second deleted what the first had just written.",
              "A run takes a lease on its day, and deletes only files that it has listed itself."))),
    Part("backfill planner", "pipelines/backfill/window.py", "tests/backfill/test_window.py", "ledger_daily",
         "metadata service", "Bogdan", "a range over the change of the clocks", "backfilled_by",
         ("a limit of days per run", "resuming after a failure"),
         (Bug("A backfill of March leaves out the 29th.",
              "The day of the clock change has 23 hours, and the planner steps by 24.",
              "It steps by calendar days now."),
          Bug("The planner starts the same day twice after a restart.",
              "The state is written after the run instead of before it.",
              "A day is marked as running first, and taken over after an hour without a sign of life."))),
    Part("quality gate", "quality/gate.py", "tests/quality/test_gate.py", "audit_trail", "metadata service", "Bogdan",
         "a table with no rows yet", "rule_version",
         ("a rule for duplicate keys", "a weekly summary of what was let through"),
         (Bug("The gate blocks fact_usage each Monday after a holiday.",
              "It compares with the same weekday of the week before, which was a holiday.",
              "Holidays of the customer's country are left out of the comparison."),
          Bug("A rule with a typo in its column passes silently.",
              "An unknown column counts as NULL, and NULL breaks no rule.",
              "The gate refuses a rule that names a column the table does not have."))),
    Part("warehouse loader", "warehouse/loader.py", "tests/warehouse/test_loader.py", "fact_usage", "object store",
         "Bogdan", "a file that arrives twice", "load_id",
         ("loading by partition in parallel", "a checksum per file"),
         (Bug("The dashboard shows half of yesterday's usage until noon.",
              "The loader takes what is listed at 05:00 and does not look again.",
              "It reads the manifest, and loads files that came later within ten minutes."),
          Bug("Amounts of accounts with two contracts are doubled.",
              "The join to dim_account uses the account alone.",
              "It joins on account and contract; the affected days are corrected."))),
    Part("export scheduler", "pipelines/export/schedule.py", "tests/export/test_schedule.py", "dim_account",
         "identity provider", "José", "an export that runs longer than a day", "last_exported_at",
         ("exports in Parquet", "a retry for a single customer"),
         (Bug("Two customers got each other's export on Tuesday.",
              "The file name has the minute only, and both exports began in the same one.",
              "Names carry the customer's id; both files were withdrawn and sent again."),
          Bug("Exports fail for an hour each time the certificate is renewed.",
              "The token is kept until it expires, although the provider has revoked it.",
              "A 401 now fetches a new token once before the export fails."))),
)  # fmt: skip

APP = (
    Part("sync engine", "app/lib/sync/engine.dart", "app/test/sync/engine_test.dart", "care_events",
         "subscription store", "Chloé", "an edit on two devices at once", "revision",
         ("synchronising over mobile data only if allowed", "a list of conflicts for the user"),
         (Bug("An entry written on the train is gone after the phone is online again.",
              "The server's copy is newer by the clock of a tablet that is an hour ahead.",
              "Revisions decide now, and the clock of a device only breaks ties."),
          Bug("The first sync of a large garden never ends on Android 9.",
              "The system ends a background task after ten minutes, and each try starts from the beginning.",
              "Progress is stored after every 200 entries."))),
    Part("plant journal", "app/lib/journal/entry_view.dart", "app/test/journal/entry_view_test.dart", "plants",
         "plant identification API", "Chloé", "an entry without a photo", "watered_at",
         ("a search in the journal", "an export as PDF"),
         (Bug("Entries of one day are shown in the wrong order.",
              "They are sorted by their text time, and 9:30 comes after 10:15 that way.",
              "They are sorted by the time itself."),
          Bug("The journal crashes when a plant is called 'Fern 🌿'.",
              "The name is cut in the middle of the emoji, and the renderer refuses half of one.",
              "Names are cut by graphemes."))),
    Part("reminders", "app/lib/reminders/schedule.dart", "app/test/reminders/schedule_test.dart", "reminders",
         "push notification service", "Chloé", "a reminder in the night of the clock change", "snoozed_until",
         ("a snooze of one day", "one reminder for all plants of a room"),
         (Bug("Reminders come fifteen minutes late on Samsung phones.",
              "The phone sleeps, and we ask for an ordinary alarm.",
              "They use exact alarms where the user allows it."),
          Bug("People who moved to Canada are reminded at three in the morning.",
              "The time zone is stored once, when the reminder is made.",
              "Reminders follow the zone of the phone, and move when it does."))),
    Part("photo upload", "app/lib/photos/upload.dart", "app/test/photos/upload_test.dart", "photos", "image store",
         "Chloé", "an upload that is interrupted", "width_px",
         ("several photos at once", "a progress bar"),
         (Bug("Photos from an iPhone are upside down in the web view.",
              "The rotation stands in the EXIF data, which we strip before the upload.",
              "The picture is turned before its data are stripped."),
          Bug("An upload that fails at 90 percent starts at zero again.",
              "The parts that arrived are forgotten when the app is closed.",
              "The list of parts is stored, and only the missing ones are sent."))),
    Part("onboarding", "app/lib/onboarding/flow.dart", "app/test/onboarding/flow_test.dart", "devices",
         "weather feed", "Chloé", "somebody who denies every permission", "locale",
         ("choosing a climate zone by hand", "a shorter first screen"),
         (Bug("With a large system font nobody can reach the Next button.",
              "The column does not scroll, and the button lies below the screen.",
              "The page scrolls, and the button stays at its bottom."),)),
)  # fmt: skip

TEAM = (
    Part("weekly report", "reports/weekly.md", "bin/check_links.sh", "notes", "calendar server", "Ana",
         "a week without a release", "shipped_on",
         ("a line about open incidents", "links to the tickets"),
         (Bug("The report of last week lists a release that was rolled back.",
              "It reads the deploys and not their rollbacks.",
              "A rollback now removes the release from the list."),)),
    Part("office server", "bin/backup.sh", "bin/check_backup.sh", "backups", "cloud drive", "José",
         "a disk that is full", "verified_at",
         ("a mail when the backup is older than two days", "pruning of old backups"),
         (Bug("The backup mail says 'done' but the archive has 0 bytes.",
              "The script looks at the exit code of the pipe's last command only.",
              "It stops at the first command that fails, and checks the size."),)),
)  # fmt: skip

PARTS = {"harbour-shop": SHOP, "tidewater": DATA, "pocket-fern": APP, "": TEAM}
TICKETS = {"harbour-shop": "SHOP", "tidewater": "TIDE", "pocket-fern": "FERN", "": "TEAM"}
RELEASED = {"harbour-shop": 14, "tidewater": 6, "pocket-fern": 4, "": 2}  # the major version
