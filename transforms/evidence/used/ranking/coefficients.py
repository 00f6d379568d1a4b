"""What `used/3` makes of the features: a logistic model, fitted once and shipped.

Fitted by `tests/support/models/used_3_fit.py` (ridge on standardised features, no evidence against a use) to five
labelled sets, weighed: dated dialogues of two people and the facts noted from them (which fact an answer, or a turn,
came from); chats and their turns that answers rest on; statements about a person that an answer took into account;
passages, and sentences of reviews, that answers were written from. Each is seen with all its memories and with pools of
1 to 24, most of which leave out what is used; facts also joined into longer ones. Answers that use nothing take part.
"""

INTERCEPT = -4.8495
COEFFICIENTS = {
    "memory_mass": 0.3045,
    "memory_passages": -0.2361,
    "answer_mass_of_all": -0.4009,
    "new_mass_of_all": -0.0797,
    "prompt_mass_of_all": -0.1461,
    "small_pool": -0.0103,
    "new_mass": 0.3649,
    "new_cosine_root": 0.4784,
    "prompt_cosine_root": 2.0284,
    "all_lag": 3.7831,
    "all_meaning_cosine": 1.9113,
    "all_meaning_z": 0.3933,
    "answer_z_by_answer_mass": 0.0222,
    "answer_gain_by_answer_mass": 0.4361,
    "answer_lag_by_answer_mass": 0.2872,
    "memory_share_by_answer_mass": 0.6564,
    "answer_cosine_by_small_pool": 1.1264,
    "answer_meaning_cosine_by_small_pool": 1.6523,
    "prompt_z_by_short_answer": 0.0258,
    "prompt_cosine_by_short_answer": 0.8636,
    "all_lead_by_short_answer": 0.6684,
}
