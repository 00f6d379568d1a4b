"""What `used/3` makes of the features: a logistic model, fitted once and shipped.

Fitted by `tests/support/models/used_3_fit.py` (ridge 1 on standardised features) to dated dialogues of two people and
the facts noted from them: which fact the answer to a question, or a turn of the dialogue, came from. Each dialogue
is seen with all its memories, with facts joined into longer ones (weight 0.3), and with 24 of its memories.
"""

INTERCEPT = 5.0824
COEFFICIENTS = {
    "answer_cosine": 2.7823,
    "answer_z": -0.3338,
    "answer_lead": -11.4760,
    "answer_mass": 0.2374,
    "new_cosine": -4.9344,
    "new_z": 0.1801,
    "new_lead": -0.7040,
    "new_mass": 0.1056,
    "prompt_cosine": 1.7396,
    "prompt_z": 0.4923,
    "prompt_lead": -0.7989,
    "prompt_mass": 0.1617,
    "all_cosine": -7.2325,
    "all_z": 0.1111,
    "all_lead": 12.0580,
    "all_mass": 1.2976,
    "memory_mass": -0.8214,
    "memory_passages": -0.3096,
    "pool_size": -0.8967,
    "answer_mass_of_all": -0.8212,
    "new_mass_of_all": -0.0414,
    "prompt_mass_of_all": -0.1724,
    "answer_cosine_squared": -6.4759,
    "answer_cosine_by_answer_mass": -0.2382,
    "answer_z_by_answer_mass": 0.0937,
    "answer_lead_by_answer_mass": 3.2316,
    "all_z_by_answer_mass": 0.0241,
    "all_lead_by_answer_mass": -1.7003,
    "prompt_z_by_answer_mass": -0.0544,
    "new_cosine_by_new_mass": 1.5676,
    "prompt_cosine_by_new_cosine": -3.2355,
}
