# SPDX-License-Identifier: MIT
"""Combines rows and layouts into forms: what each target decodes. Rejects collisions."""
from collections import OrderedDict

from bad import Bad


class Resolved:
    """A row in one layout, with everything needed to decode and print it."""

    def __init__(self, row, encoding, layout, space, name, base):
        self.row, self.encoding, self.layout, self.name, self.base = row, encoding, layout, name, base
        self.body = None  # of src/sem, at the node
        self.canonical = canonical_bits(layout)
        self.specs = specs(encoding, layout)
        self.zero = zero_mask(encoding, layout, space)
        self.fields = [(n,) + f for n, f in layout.fields.items() if holds(encoding, f[4])]


def holds(encoding, only):
    return not only or any(flag in encoding.flags for flag in only)


def canonical_bits(layout):
    """The values that the assembler writes to ignored bits."""
    bits = 0
    for (pos, _), value in layout.written:
        bits |= value << pos
    return bits


def variant_of(form):
    """The variant of a form (enum wmi_variant)."""
    long = form.layout.name.startswith('vop3')
    if form.layout.extension in ('dpp', 'dpp8'):
        return 'E64_DPP' if long else 'DPP'
    return 'SDWA' if form.layout.extension == 'sdwa' else 'E64' if long else 'PLAIN'


def aliases(isa, form, node):
    """Older names of the row, which assemblers also accept, and those that the row says."""
    names = {form.row.name} | {form.encoding.names[n] for n in isa.chain(node) if n in form.encoding.names}
    said = next((form.encoding.also[n] for n in isa.chain(node) if n in form.encoding.also), '-')
    names |= {said} - {'-'}
    return names - {form.base}


def specs(encoding, layout):
    out = []
    for o in encoding.operands + layout.added:
        kind, place, _ = layout.operands[o.role]
        kind = o.kind or kind
        implied = kind in ('vcc', 'vcc_hidden', 'exec_hidden', 'tied')
        pos, width = place[0] if place and not implied else (0, 0)
        pick = lambda part, ok: layout.source_mods.get('%s.%s' % (part, o.role), 0) if ok else 0
        is_int = not o.float_mods and not o.type == 'mask'
        out.append((kind, o.role, o.type, pos, width, pick('neg', o.float_mods), pick('abs', o.float_mods),
                    pick('sext', is_int), pick('alt', True), o.read, o.written, implied, o.optional))
    return tuple(out)


def zero_mask(encoding, layout, space):
    """The bits that must be zero: all unused ones."""
    free = 0

    def take(pos, width):
        nonlocal free
        free |= (1 << width) - 1 << pos

    for pos, width in [(p, w) for p, w, _ in space.match] + space.op + layout.ignored:
        take(pos, width)
    for role, (_, place, ignored) in layout.operands.items():
        o = encoding.operand(role)
        if ignored or o and o.kind != 'tied' or any(a.role == role for a in layout.added):
            for pos, width in place:
                take(pos, width)
    for o in encoding.operands:
        if o.kind == 'tied':
            continue
        is_int = not o.float_mods and o.type != 'mask'
        for part, ok in (('neg', o.float_mods), ('abs', o.float_mods), ('sext', is_int), ('alt', True)):
            bit = layout.source_mods.get('%s.%s' % (part, o.role))
            if ok and bit is not None:
                take(bit, 1)
    for place, _, _, per, only, ignored in layout.fields.values():
        if not holds(encoding, only):
            if ignored:
                for pos, width in place:
                    take(pos, width)
            continue
        if per and sum(w for _, w in place) == len(per):
            all_bits = [b for pos, width in place for b in range(pos, pos + width)]
            for bit, role in zip(all_bits, per):
                if encoding.operand(role):
                    take(bit, 1)
        elif not per or any(encoding.operand(r) for r in per):
            for pos, width in place:
                take(pos, width)
    return ~free & (1 << min(64, 32 * layout.dwords)) - 1


def opcode_at(isa, encoding, node):
    """The opcode at a node, and whether it is given there rather than inherited."""
    for n in isa.chain(node):
        if n in encoding.opcodes:
            return encoding.opcodes[n], n == node
    return None, False


def name_at(isa, row, encoding, node):
    for n in isa.chain(node):
        if n in encoding.names:
            return encoding.names[n]
    return row.name


def body_at(isa, row, node):
    """The row's body at a node."""
    if not row.bodies:
        return row.name
    found = next((row.bodies[n] for n in isa.chain(node) if n in row.bodies), row.bodies.get(None))
    if found is None:
        raise Bad(row.where, "row '%s' has no body at node %s" % (row.name, node))
    return found


def forms_of(isa, family, node):
    """The form lines that apply at a node: for each first layout, the nearest ancestor's."""
    found = OrderedDict()
    lines = [f for f in isa.forms if f.family == family]
    if not lines:
        return None
    for n in reversed(list(isa.chain(node))):
        for f in lines:
            if f.node == n:
                found[f.layouts[0]] = f
    return list(found.values())


def choose_layout(isa, encoding, names, node):
    """The first layout that has all roles of the row."""
    missing = None
    for name in names:
        layout = isa.layout(name, node)
        if layout is None:
            continue
        lack = [o.role for o in encoding.operands if o.role not in layout.operands]
        if not lack:
            return layout, None
        missing = missing or (layout, lack[0])
    return None, missing


def plan_of(isa, encoding, node):
    """[(layouts, suffix, base)]: the ways to write an encoding of a row at a node."""
    lines = forms_of(isa, encoding.family, node)
    if lines is None:
        return [([encoding.family], '', None)]
    return [(f.layouts, f.suffix, f.base) for f in lines
            if not any(flag in encoding.flags for flag in f.unless) and (not f.only or f.only in encoding.flags)]


def encoding_forms(isa, row, encoding, node):
    """All (space, opcode, Resolved) for one encoding of a row at a node."""
    op, here = opcode_at(isa, encoding, node)
    if op is None:
        return
    plan = plan_of(isa, encoding, node)
    name = name_at(isa, row, encoding, node)
    suffixes = {p[1] for e in row.encodings if opcode_at(isa, e, node)[0] is not None for p in plan_of(isa, e, node)}
    made = False
    for layouts, suffix, base in plan:
        layout, missing = choose_layout(isa, encoding, layouts, node)
        if missing:
            raise Bad(encoding.where, "layout '%s' has no place for '%s'" % (missing[0].name, missing[1]))
        space = isa.space(layout.space, node) if layout else None
        if layout is None or space is None:
            continue
        made = True
        full = op + (base or 0)
        if full >> sum(w for _, w in space.op):
            raise Bad(encoding.where, "opcode %x of '%s' does not fit layout '%s'" % (full, row.name, layout.name))
        short = suffix in ('_e32', '_e64')
        plain = 'bare' in encoding.flags or short and ('unmarked' in encoding.flags or not {'_e32', '_e64'} <= suffixes)
        form = Resolved(row, encoding, layout, space, name + ('' if plain else suffix), name)
        form.body = body_at(isa, row, node)
        yield space, full, form
    if not made and here:
        raise Bad(encoding.where, "encoding '%s' has no layout at node %s" % (encoding.family, node))


def resolve(isa, node):
    """{space: {opcode: Resolved}} of a node, spaces in matching order."""
    tables = OrderedDict()
    for space in isa.spaces:
        if isa.space(space.name, node) is space:
            tables[space] = {}
    for row in isa.rows.values():
        for encoding in row.encodings:
            for space, op, form in encoding_forms(isa, row, encoding, node):
                other = tables[space].get(op)
                if other:
                    raise Bad(encoding.where, "opcode %x of %s at node %s is '%s' already, at %s:%d"
                              % ((op, space.name, node, other.row.name) + other.encoding.where))
                tables[space][op] = form
    return tables
