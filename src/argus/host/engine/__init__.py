"""The Docker engine, as the domains see it, and how it is reached.

`seam` is what services ask of it, `resources` what environments do. `where` finds it, `wire` carries one question.
`docker`, `dock`, `inside`, `things` and `building` know its API; `names`, `writing`, `reading`, `printed` and
`refusals` are its language. `guard` puts the deadline and the circuit breaker around every question, `guarded` around
each of those that environments have. `argus.testing.FakeEngine` stands in for the API, behind the same guard.
"""
