-- severity: fail
-- An instruction is checked in an interaction that it was injected into, and at the time of that.
SELECT c.memory_id, c.interaction_id, c.check_kind, c.expected, c.occurred_at
FROM instruction_checks AS c
LEFT JOIN memory_references AS r ON r.memory_id = c.memory_id AND r.interaction_id = c.interaction_id
WHERE r.is_injected IS NOT TRUE OR r.occurred_at <> c.occurred_at OR c.expected = '' OR c.saw = ''
