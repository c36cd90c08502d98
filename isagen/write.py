# SPDX-License-Identifier: MIT
"""Writes the C tables: X-macro files for general use, and the decode tables for src/isa."""
from collections import OrderedDict

import facts
from read import ROW_FLAGS
from resolve import aliases, resolve, variant_of

HEAD = '/* SPDX-License-Identifier: MIT */\n/* Generated from isa/ by isagen; do not edit. */\n'


VARIANTS = 'PLAIN E64 SDWA DPP E64_DPP SECOND'.split()  # enum wmi_variant


class Pool:
    """Distinct values and their indices."""

    def __init__(self):
        self.index, self.values = {}, []

    def add(self, value):
        if value not in self.index:
            self.index[value] = len(self.values)
            self.values.append(value)
        return self.index[value]


class Runs:
    """Sequences of values in one array; equal sequences are stored once."""

    def __init__(self):
        self.start, self.values = {}, []

    def add(self, run):
        run = tuple(run)
        if run not in self.start:
            self.start[run] = len(self.values)
            self.values.extend(run)
        return self.start[run]


def row_class(isa, row):
    if 'control' in row.flags:
        return 'control'
    return isa.classes[row.encodings[0].family]


def row_flags(isa, row):
    flags = [f for f in ROW_FLAGS if f in row.flags]
    d = row.encodings[0].operand('d')
    if d and row_class(isa, row) == 'valu' and isa.types[d.type][1] == 'float' or d and d.type in ('v2f16', 'v2f32'):
        flags.append('float_clamp')
    if any('op_sel' in e.flags for e in row.encodings):
        flags.append('vop3_opsel')
    if 'op_sel' in row.encodings[0].flags:
        flags.append('keeps_half')
    if row.encodings[0].family.startswith('vop3p'):
        flags.append('packed')
    return flags


def body_class(isa, row):
    """The class of the row's body: scalar floats run vector bodies in one lane."""
    return 'valu' if 'one_lane' in row.flags else row_class(isa, row)


def bodies_of(row):
    """Names of the row's bodies, in file order."""
    return list(dict.fromkeys(row.bodies.values())) or [row.name]


def insn_def(isa):
    """INSN for each row with its first body, BODY for each additional body."""
    out = [HEAD, '#ifndef BODY', '#define BODY(...)', '#endif']
    for row in isa.rows.values():
        out.append('/* %s:%d */ INSN(%s, %s, %s, %d)' % (
            row.where + (row.name, body_class(isa, row).upper(), bodies_of(row)[0], 'todo' in row.flags)))
    for row in isa.rows.values():
        for number, body in enumerate(bodies_of(row)[1:], 1):
            out.append('/* %s:%d */ BODY(%s_%d, %s, %s, %d, %s)' % (
                row.where + (row.name, number, body_class(isa, row).upper(), body, 'todo' in row.flags, row.name)))
    return out + ['#undef INSN', '#undef BODY']


def body_number(isa, row, body):
    """The body's number for wmi_sem_body(): that of the row with its name, the row's, or that of an additional one."""
    owner = isa.rows.get(body)
    if owner and bodies_of(owner)[0] == body:
        return 'WMI_INSN_' + body
    number = bodies_of(row).index(body)
    return 'WMI_BODY_%s_%d' % (row.name, number) if number else 'WMI_INSN_' + row.name


def simple_def(macro, items):
    return [HEAD] + ['%s(%s)' % (macro, ', '.join(map(str, x))) for x in items] + ['#undef ' + macro]


def enums(isa, layouts):
    out = [HEAD, '#ifndef WMI_ISA_ENUMS_H', '#define WMI_ISA_ENUMS_H']
    for name, prefix, values in (('wmi_kind', 'KIND', isa.kinds), ('wmi_show', 'SHOW', isa.shows),
                                 ('wmi_layout_id', 'LAYOUT', layouts), ('wmi_name_group', 'NAMES', isa.name_groups)):
        out.append('enum %s {\n%s\n    WMI_%s_COUNT\n};' % (
            name, '\n'.join('    WMI_%s_%s,' % (prefix, v) for v in values), prefix))
    return out + ['#endif']


class Tables:
    """Collects the data shared by targets, then prints it."""

    def __init__(self, isa):
        self.isa = isa
        self.fields = Pool()
        self.specs, self.field_specs, self.candidates, self.names = Runs(), Runs(), Runs(), Runs()
        self.zeros, self.layouts, self.forms, self.texts = Pool(), Pool(), Pool(), Pool()
        self.matrices = Pool()
        self.code_tables, self.opcode_tables, self.canonical = Pool(), Pool(), Pool()
        self.forms.add(None)  # form 0: no instruction
        self.matrices.add(None)  # matrix 0: none
        self.nodes = OrderedDict()
        for layout in isa.layouts.values():
            for name in layout.fields:
                self.fields.add(name)
        for node in dict.fromkeys(t.node for t in isa.targets.values()):
            resolved = resolve(isa, node)
            for wave in self.waves(node):
                self.nodes[node, wave] = self.add_node(node, resolved, wave)

    def waves(self, node):
        """Possible wave sizes, the default first."""
        limits = self.isa.nodes[node]['limits']
        return [limits['wave'], 64] if limits['wave'] == 32 and not limits.get('one_wave_size') else [limits['wave']]

    def add_node(self, node, resolved, wave):
        spaces, at, mnemonics = [], {}, []
        for space, by_op in resolved.items():
            if space.wave and space.wave != wave:
                continue
            size = 1 << sum(w for _, w in space.op)
            table = [0] * size
            for op, form in by_op.items():
                table[op] = self.add_form(form, wave)
                variant = 'SECOND' if space.second else variant_of(form)
                for name in [form.base] + sorted(aliases(self.isa, form, node)):
                    mnemonics.append((name, name != form.base, VARIANTS.index(variant), len(spaces), op, table[op]))
            if by_op:
                for each in filter(None, (space, space.also)):
                    at[each] = len(spaces)
                    spaces.append((each, self.opcode_tables.add(tuple(table))))
        first = []
        for top in range(512):
            first.append(self.candidates.add([at[s] for s, _ in spaces if not s.second and could_match(s, top)] + [255]))
        names = [[self.names.add(self.group(g, node, marks)) for g in self.isa.name_groups] for marks in ([''], ['@', ''])]
        second = [i for i, (s, _) in enumerate(spaces) if s.second]  # of two and of three dwords
        return spaces, (first, second), self.codes(node), names, self.mnemonics(mnemonics)

    def mnemonics(self, entries):
        """Sorted by name and the order in which they are tried. Aliases that are also a row's own name are omitted."""
        own = {name for name, alias, *_ in entries if not alias}
        return sorted(set((n, v, s, op, form) for n, alias, v, s, op, form in entries if not alias or n not in own))

    def group(self, group, node, marks):
        """The names of a group at a node, for each value from the nearest node, ended by -1. With the mark '@' before '', LLVM 22's
        names precede those that the node has otherwise, which its assembler accepts too."""
        found, others = {}, {}
        for n in self.isa.chain(node):
            for mark in marks:
                for g, at, value, text in self.isa.names:
                    if g == group and at == n + mark:
                        if value not in found:
                            found[value] = text, mark
                        elif found[value][1] == '@':
                            others.setdefault(value, text)
        names = [(v, t) for v, (t, _) in sorted(found.items())] + sorted(others.items())
        return [(v, t) for v, t in names if t != '-'] + [(-1, '')]

    def codes(self, node):
        table = [('NONE', 0)] * 256
        for n in reversed(list(self.isa.chain(node))):
            for at, first, last, what, where in self.isa.codes:
                for code in range(first, last + 1) if at == n else ():
                    if what in ('sgpr', 'ttmp'):
                        table[code] = (what.upper(), code - first)
                    elif what in ('int', 'float'):
                        table[code] = ('CONSTANT', code)
                    elif what == 'literal64':
                        table[code] = ('LITERAL', 1)
                    elif what in ('literal', 'none'):
                        table[code] = (what.upper(), 0)
                    else:
                        table[code] = ('SPECIAL', 'WMI_SPECIAL_' + what.upper())
        return self.code_tables.add(tuple(table))

    def bits(self, type_, wave):
        bits, kind = self.isa.types[type_]
        return wave if kind == 'mask' else bits * 32 // wave if kind == 'spread' else bits

    def add_form(self, form, wave):
        isa = self.isa
        run = []
        for (kind, role, type_, pos, width, neg, abs_, sext, alt, read, written, implied, optional) in form.specs:
            bits = self.bits(type_, wave)
            flags = read | written << 1 | implied << 2 | optional << 3
            run.append('{WMI_KIND_%s, WMI_ROLE_%s, WMI_TYPE_%s, %d, %d, %d, %d, %d, %d, %d, %d}' % (
                kind, role.upper(), type_, (bits + 31) // 32, pos, width, neg, abs_, sext, alt, flags))
        layout = form.layout
        fields = []
        for name, place, show, signed, *_ in form.fields:
            second = place[1] if len(place) > 1 else (0, 0)
            fields.append('{WMI_FIELD_%s, WMI_SHOW_%s, %d, %d, %d, %d, %d}' % (
                (name, show) + place[0] + second + (signed,)))
        index = self.layouts.add((layout.name, layout.dwords, layout.extension, self.field_specs.add(fields), len(fields)))
        return self.forms.add((form.row.name, self.specs.add(run), len(run), index, self.zeros.add(form.zero),
                               self.texts.add(form.name), self.canonical.add(form.canonical),
                               body_number(self.isa, form.row, form.body)))

    def text(self):
        out = [HEAD, '#include "isa/tables.h"', '']
        array = lambda head, lines: out.extend([head + ' = {'] + ['    %s,' % x for x in lines] + ['};'])
        array('const struct wmi_spec wmi_specs[]', self.specs.values or ['{0}'])
        array('const struct wmi_field_spec wmi_field_specs[]', self.field_specs.values or ['{0}'])
        array('const uint64_t wmi_zero_masks[]', ['0x%xu' % z for z in self.zeros.values])
        array('const struct wmi_instruction_layout wmi_layouts[]',
              ['{WMI_LAYOUT_%s, %d, WMI_EXT_%s, %d, %d}' % (n, d, e.upper(), c, f) for n, d, e, f, c in self.layouts.values])
        array('const struct wmi_form wmi_forms[]', ['{0}'] + [
            '{WMI_INSN_%s, %s, %d, %d, %d, %d, %d, %d, "%s"}' % (
                n, b, s, z, l, c, len(self.texts.values[t]), w, self.texts.values[t])
            for n, s, c, l, z, t, w, b in self.forms.values[1:]])
        array('const uint32_t wmi_canonical[][3]', ['{0x%xu, 0x%xu, 0x%xu}' % (
            w & 0xffffffff, w >> 32 & 0xffffffff, w >> 64) for w in self.canonical.values])
        array('static const uint8_t candidates[]', [str(x) for x in self.candidates.values])
        array('static const struct wmi_name names[]', ['{%d, "%s"}' % x for x in self.names.values])
        for i, table in enumerate(self.code_tables.values):
            array('static const struct wmi_operand_meaning codes_%d[256]' % i, ['{WMI_OPERAND_%s, %s}' % x for x in table])
        for i, table in enumerate(self.opcode_tables.values):
            array('static const uint16_t opcodes_%d[]' % i, [', '.join(map(str, table[j:j + 16]))
                                                             for j in range(0, len(table), 16)])
        for (node, wave), (spaces, first, codes, names, mnemonics) in self.nodes.items():
            self.node_text(array, '%s_%d' % (node, wave), spaces, first)
            array('static const struct wmi_mnemonic mnemonics_%s_%d[]' % (node.replace('.', '_'), wave),
                  ['{"%s", %d, %d, %d, %d}' % (n, form, op, s, v) for n, v, s, op, form in mnemonics])
        variants = self.variants()
        array('const struct wmi_target wmi_targets[]', [self.target(*x, False) for x in variants])
        array('const struct wmi_target wmi_targets_llvm22[]', [self.target(*x, True) for x in variants])
        out.append('const unsigned wmi_target_count = %d, wmi_target_variants = %d;' % (len(self.isa.targets), len(variants)))
        array('const struct wmi_row wmi_rows[WMI_INSN_COUNT]', ['{.name = ""}'] + [
            self.row(r) for r in self.isa.rows.values()])
        array('const struct wmi_matrix wmi_matrices[]', ['{0}'] + [
            '{%d, %d, %d, %d, WMI_ELEMENT_%s, WMI_ELEMENT_%s, WMI_ELEMENT_%s, %s}' % (
                m.m, m.n, m.k, m.blocks, m.d, m.a, m.b, 'true' if m.sparse else 'false')
            for m in self.matrices.values[1:]])
        self.fidelity(array)
        return out

    def fidelity(self, array):
        lines = []
        for row in self.isa.rows.values():
            for g in sorted(row.grades, key=lambda g: g.field is None):  # conditional entries first
                field = 'WMI_FIELD_' + g.field if g.field else 'WMI_FIELD_COUNT'
                nodes = sum(1 << number for number, node in enumerate(self.isa.nodes) if node in g.nodes)
                lines.append('{WMI_INSN_%s, WMI_GRADE_%s, %s, 0x%x, "%s"} /* %s:%d */' % (
                    (row.name, g.name.upper(), field, nodes, g.remark) + g.where))
        array('const struct wmi_fidelity wmi_fidelities[]', lines + ['{0, 0, 0, 0, ""}'])
        array('const char *const wmi_fidelity_general[]', ['"%s"' % text for text in self.isa.general] + ['0'])

    def node_text(self, array, node, spaces, first):
        lines = []
        for space, table in spaces:
            mask = match = 0
            for pos, width, value in space.match:
                mask |= ((1 << width) - 1) << pos
                match |= value << pos
            op = (space.op + [(0, 0)])[:2]
            low = (1 << 64) - 1
            lines.append('{0x%xu, 0x%xu, 0x%xu, 0x%xu, %d, %d, %d, %d, opcodes_%d} /* %s */' % (
                (mask & low, match & low, mask >> 64, match >> 64) + op[0] + op[1] + (table, space.name)))
        name = node.replace('.', '_')
        array('static const struct wmi_opcode_space spaces_%s[]' % name, lines)
        array('static const uint16_t first_%s[512]' % name,
              [', '.join(map(str, first[0][j:j + 16])) for j in range(0, 512, 16)])

    def variants(self):
        """All targets in their default variant, then with the other wave size and the other true16 mode."""
        out = []
        for name, target in self.isa.targets.items():
            waves = self.waves(target.node)
            for real in range(target.limits.get('true16_modes', 0) + 1):
                out += [(real or wave != waves[0], name, target, wave, real) for wave in waves]
        return [x[1:] for x in sorted(out, key=lambda x: x[0])]

    def target(self, name, target, wave, real, llvm22):
        _, (_, second), codes, names, mnemonics = self.nodes[target.node, wave]
        limits = dict(target.limits, wave=wave, **self.isa.llvm22 if llvm22 else {})
        llvm22 = self.isa.llvm22.items() <= limits.items()
        c = '%s_%d' % (target.node.replace('.', '_'), wave)
        node = list(self.isa.nodes).index(target.node)
        second = ', '.join(map(str, (second + [255, 255])[:2]))
        return '{"%s", 0x%x, %s, %d, codes_%d, spaces_%s, first_%s, candidates, {%s}, {%s}, {%s}, mnemonics_%s, %d}' % (
            name, target.mach, 'true' if real else 'false', node, codes, c, c, second, ', '.join(str(limits[x]) for x in self.isa.limits),
            ', '.join('names + %d' % x for x in names[llvm22]) or '0', c, len(mnemonics))

    def row(self, row):
        kind, elements, size = row.flags.get('memory', ('control' if 'memctl' in row.flags else 'none', 0, 0))
        class_ = row_class(self.isa, row)
        values = [('class', 'WMI_CLASS_' + class_.upper()), ('memory', 'WMI_MEMORY_' + kind.upper()),
                  ('elements', elements), ('bytes', size), ('flags', masks('ROW', row_flags(self.isa, row))),
                  ('counts', 'WMI_COUNTS_' + facts.counts(row, class_).upper()),
                  ('waits', ' | '.join('1 << WMI_COUNTER_' + c.upper() for c in row.facts.get('waits', ()))),
                  ('work', 'WMI_WORK_' + facts.work(row, class_).upper()),
                  ('group', 'WMI_GROUP_' + row.facts['group'].upper() if 'group' in row.facts else ''),
                  ('rules', masks('RULE', row.facts.get('rules', ())))]
        cache = row.facts.get('cache')
        if cache:
            values += [('cache', masks('CACHE', facts.CACHE_OPERATIONS[cache.operation])),
                       ('cache_level', 'WMI_CACHE_LEVEL_' + cache.level.upper()),
                       ('cache_scope', 'WMI_CACHE_SCOPE_' + cache.scope.upper())]
        values.append(('matrix', self.matrices.add(facts.matrix_of(row))))
        return '{"%s", %s}' % (row.name, ', '.join('.%s = %s' % x for x in values if x[1]))


def masks(prefix, names):
    """A C expression for the bits of the names."""
    return ' | '.join('WMI_%s_%s' % (prefix, name.upper()) for name in names)


def could_match(space, top):
    """Whether a word whose upper nine bits are `top` can be in the space."""
    for pos, width, value in space.match:
        for i in range(width):
            bit = pos + i
            if 23 <= bit < 32 and (top >> (bit - 23) & 1) != (value >> i & 1):
                return False
    return True


def files(isa):
    """{file name: text}"""
    tables = Tables(isa)
    layouts = list(dict.fromkeys(name for name, _ in isa.layouts))
    out = {
        'insn.def': insn_def(isa),
        'types.def': simple_def('TYPE', [(n, bits) for n, (bits, _) in isa.types.items()]),
        'elements.def': simple_def('ELEMENT', isa.elements.items()),
        'fields.def': simple_def('FIELD', [(n,) for n in tables.fields.values]),
        'limits.def': simple_def('LIMIT', [(n,) for n in isa.limits]),
        'targets.def': simple_def('TARGET', [
            [name.replace('-', '_')] + [target.limits.get('vgpr_granule' + wave, 0) for wave in ('64', '32')]
            for name, target in isa.targets.items()]),
        'isa_enums.h': enums(isa, layouts),
        'isa_tables.c': tables.text(),
    }
    return {name: '\n'.join(lines) + '\n' for name, lines in out.items()}
