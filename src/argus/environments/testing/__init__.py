"""The YAML test format: its files, what they expect, the steps they take, and what came of it.

`results` is what every runner gives, `junit` writes it down. Pure: `reading` (files into cases, with the line of every
mistake), `operators`, `assertions`, `expressions`, `variables`. `world` is what steps act through, `steps` are they,
`running` plays a file.
"""
