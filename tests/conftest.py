"""Settings every test runs under."""

from hypothesis import settings

# The same examples in every run; `--hypothesis-profile=explore` looks further.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("same")
