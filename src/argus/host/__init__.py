"""The only code that touches the machine. Every call has a deadline that covers the whole operation.

`seam.Host` is what the domains see. The real one is `machine.MachineHost`; `argus.testing.FakeHost` stands in for it in
simulations, and one contract suite runs over both so that the fake cannot lie. This package imports nothing by itself:
the CLI takes single modules of it and must stay light.
"""
