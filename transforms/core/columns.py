"""What several tables have alike: their columns, and what is said of them."""

RUN_ID = "The run. Here the one that published the row."
AS_OF = "The publish shows what was known before this instant."
# What stands where a text was that expired by its age, wherever people look.
EXPIRED_TEXT = "(text expired by retention)"
# Which strategy: of whom, and on which kind of task.
STRATEGY_KEY = ("project", "agent", "task_type", "strategy_id")
# How many rows of a file or a run were delivered, and what became of each: together the others are the first.
ROW_FATES = ("delivered", "accepted", "duplicate", "quarantined")
