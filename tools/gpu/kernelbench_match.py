"""Which tensor of a PyTorch module each input buffer of a launch plan is."""

import inspect
import re


def named_parts(name, value):
    """(name, tensor) of an argument: "x", or "xs.0" of a list."""
    if isinstance(value, (list, tuple)):
        return [pair for i, part in enumerate(value) for pair in named_parts(f"{name}.{i}", part)]
    return [(name, value)] if hasattr(value, "shape") else []


def held_tensors(model):
    """(name, tensor) of everything that a module holds: its state, then plain attributes and buffers that are not saved."""
    held = dict(model.state_dict())
    for prefix, part in model.named_modules():
        for name, value in [*part.named_buffers(recurse=False), *vars(part).items()]:
            for full, tensor in named_parts(f"{prefix}.{name}" if prefix else name, value):
                held.setdefault(full, tensor)
    return list(held.items())


def sources_of(model, inputs):
    names = list(inspect.signature(model.forward).parameters)
    arguments = [pair for name, value in zip(names, inputs) for pair in named_parts(name, value)]
    return arguments + held_tensors(model)


def plain_name(name):
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def match_inputs(plan, sources, constants=()):
    """{buffer name: tensor}. Kernels name "layers.0.weight" layers_0_weight, with more underscores where that is taken.
    `constants` are names of numbers that stand in forward() itself, which no tensor of the module is."""
    found = {}
    for buffer in plan["buffers"]:
        if buffer["role"] != "input":
            continue
        name = buffer["name"]
        if name in constants:
            continue
        # Both lists have the module's order, so the first that is left is the one.
        place = next((i for i, (source, _) in enumerate(sources) if fits(name, plain_name(source))), None)
        if place is None:
            raise LookupError(f"no tensor of the module is {name}")
        found[name] = sources[place][1]
        sources = sources[place + 1 :]
    return found


def fits(name, source):
    return name.startswith(source) and not name[len(source) :].strip("_")
