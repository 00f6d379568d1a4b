"""What is said of the columns that every published table has."""

RUN_ID = "The run that published this row."
AS_OF = "The row tells what was known before this instant."
