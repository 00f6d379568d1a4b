"""The column of each landed table that says when: its UTC day is the partition. Asking for it loads nothing."""

EVENT_TIME = {"interactions": "created_at", "outcomes": "created_at", "memories": "changed_at"}
