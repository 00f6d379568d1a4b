"""The format of a lake: which columns its files may have.

1: of the first release.
2: tables of the lake may have columns `since=2`, and `day_inputs` says which columns an evidence partition was last
   found to fit.
3: memories have scope, user_id, category, domain, source and tags, which stood in `extra`; eligibility says of which
   agent and user it is.
4: `day_inputs` says which partition of each evidence table was used, where its name is not the day's fingerprint.
5: interactions have memories_cited, outcomes basis and basis_method, which stood in `extra`; evidence says what answers
   cite.
6: something was taken out of the lake for good: rows that were erased, which an earlier release would land again, or
   texts, which it would look for in vain. Runs say from which day on there are texts. A lake of which nothing was taken
   stayed at 5.
7: memories have expires_at, which stood in `extra`; evidence says how many quotes the prompt said already.

A column that is new in the lake says `since=` the next number, which is then described here.
"""

LAKE_FORMAT = 7
# Of a lake of which nothing was taken.
WHOLE_FORMAT = 7
