"""The Docker engine, as the domains see it (`seam`), and how it is reached.

`where` finds it, `wire` carries one question, `docker` knows its API, `guard` puts the deadline and the circuit breaker
around every question. `argus.testing.FakeEngine` stands in for `docker`, behind the same guard.
"""
