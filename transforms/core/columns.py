"""What is said of the columns that every published table has."""

RUN_ID = "The run. Here the one that published the row."
AS_OF = "The publish shows what was known before this instant."
# What stands where a text was that was let go of by its age, wherever people look.
TEXT_LET_GO = "(text was let go of by retention)"
