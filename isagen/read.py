# SPDX-License-Identifier: MIT
"""Parses the files of isa/ into plain objects; reports errors with file and line."""
import fnmatch
import re
from collections import OrderedDict, namedtuple

import facts
from bad import Bad

ROLES = 'd sdst a b c imm imm2 addr data data2 rsrc samp offset saddr format'.split()
CLASSES = 'salu valu control smem buffer tbuffer image flat global scratch ds export'.split()
EXTENSIONS = ['none', 'literal', 'dpp', 'dpp8', 'sdwa']
# Flags that become WMI_ROW_* bits; those below only affect the forms of a row.
ROW_FLAGS = ('todo reads_scc writes_scc reads_exec writes_exec writes_vcc reads_vcc reads_m0 ignores_exec signed d16 '
             'd16_hi format cross_lane ends approx trans stride64 returns macc true16 always16 '
             'lod gradients g16 one_lane packed float').split()
GRADES = 'approx unverified todo'.split()
MEMORY_FLAGS = 'load store atomic'.split()
FORM_FLAGS = 'mods clamp omod op_sel high bare control noe64 nodpp nosdwa dpp64 lds wide_lds unmarked'.split()


# of a row at `nodes`; applies if the instruction has the modifier `field`, or always
Grade = namedtuple('Grade', 'where name field nodes remark')
Target = namedtuple('Target', 'node mach limits')


class Lines:
    """The significant lines of a file: (where, indented, words)."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def __iter__(self):
        for number, line in enumerate(self.text.split('\n'), 1):
            words = line.split('#')[0].split()
            if words:
                yield (self.name, number), line[0] in ' \t', words


def integer(where, text, base=10):
    try:
        return int(text, base)
    except ValueError:
        raise Bad(where, "'%s' is no %s number" % (text, {10: 'decimal', 16: 'hexadecimal', 0: ''}[base])) from None


def bits(where, text):
    """'11+4' -> (11, 4)"""
    m = re.fullmatch(r'(\d+)\+(\d+)', text)
    if not m:
        raise Bad(where, "'%s' is no bit range; write POS+WIDTH" % text)
    return int(m.group(1)), int(m.group(2))


def slices(where, text):
    out = [bits(where, part) for part in text.split(',')]
    if len(out) > 2:
        raise Bad(where, "'%s' has more than two parts" % text)
    for pos, width in out:
        if width and pos // 32 != (pos + width - 1) // 32:
            raise Bad(where, "'%d+%d' crosses a dword" % (pos, width))
    return out


class Operand:
    """An operand of a row: role, type, an override of the layout's kind, reads and writes."""

    PATTERN = re.compile(r'([a-z]+2?)([+?]*):([a-z0-9]+)(@[a-z0-9_]+)?([+-]m)?')

    def __init__(self, where, word, isa):
        m = self.PATTERN.fullmatch(word)
        if not m:
            raise Bad(where, "'%s' is no operand; write ROLE:TYPE" % word)
        self.role, marks, self.type, kind, mods = m.groups()
        if self.role not in ROLES:
            raise Bad(where, "unknown role '%s'" % self.role)
        if self.type not in isa.types:
            raise Bad(where, "unknown type '%s'" % self.type)
        self.kind = kind[1:] if kind else None
        if self.kind == 'd':
            self.kind = 'tied'
        if self.kind and self.kind not in isa.kinds:
            raise Bad(where, "unknown operand kind '%s'" % self.kind)
        self.optional = '?' in marks
        self.written = self.role in ('d', 'sdst') or '+' in marks
        self.read = self.role not in ('d', 'sdst') or '+' in marks
        self.float_mods = mods == '+m' if mods else isa.types[self.type][1] == 'float'


class Encoding:
    """One way to encode a row: family, opcodes and names by node, operands."""

    def __init__(self, where, family):
        self.where, self.family = where, family
        self.opcodes, self.names, self.operands, self.flags = OrderedDict(), {}, [], {}
        self.also = {}  # names that assemblers accept, too: '-' ends those of earlier nodes

    def operand(self, role):
        return next((o for o in self.operands if o.role == role), None)


class Row:
    """An instruction with all its encodings."""

    def __init__(self, where, name):
        self.where, self.name, self.encodings, self.flags, self.grades = where, name, [], {}, []
        self.facts = {}  # by facts.KEYS
        self.missing = None  # why it is todo
        self.bodies = OrderedDict()  # node: body in src/sem; default: the row's name


class Layout:
    def __init__(self, where, name, node, space, dwords):
        self.where, self.name, self.node, self.space, self.dwords = where, name, node, space, dwords
        self.extension = 'none'
        self.operands = OrderedDict()  # role -> (kind, slices, ignored when unused)
        self.source_mods = OrderedDict()  # 'neg.a' -> bit
        self.fields = OrderedDict()  # name -> (slices, show, signed, per, if, ignored if `if` does not hold)
        self.ignored = []
        self.added = []  # operands that rows have in this layout only
        self.written = []  # ((pos, width), value): ignored bits that the assembler sets


class Space:
    def __init__(self, where, name, node, match, op, second=False, wave=None):
        self.where, self.name, self.node, self.match, self.op = where, name, node, match, op
        self.second, self.wave = second, wave
        self.also = None  # the same space with another marker


class Form:
    def __init__(self, where, family, node, layouts):
        self.where, self.family, self.node, self.layouts = where, family, node, layouts
        self.suffix, self.base, self.unless, self.only = '', None, [], None


class Isa:
    """The parsed files."""

    def __init__(self):
        self.types, self.kinds, self.shows, self.limits = OrderedDict(), [], [], []
        self.elements = OrderedDict()  # of matrices: bits by name
        self.llvm22 = {}  # limits of text as LLVM 22 writes it
        self.nodes, self.targets, self.codes = OrderedDict(), OrderedDict(), []
        self.spaces, self.layouts, self.forms, self.classes = [], OrderedDict(), [], {}
        self.space_at = {}  # of `spaces`, for space()
        self.rows, self.names, self.name_groups, self.general = OrderedDict(), [], [], []

    def chain(self, node):
        """The node and its ancestors, nearest first."""
        while node is not None:
            yield node
            node = self.nodes[node]['parent']

    def node(self, where, name):
        if name not in self.nodes:
            raise Bad(where, "unknown node '%s'" % name)
        return name

    # -- isa/types, isa/targets ------------------------------------------------------------------------
    def read_types(self, lines):
        for where, _, words in lines:
            if words[0] == 'type' and len(words) == 4:
                if words[1] in self.types:
                    raise Bad(where, "type '%s' stands twice" % words[1])
                if words[3] not in ('int', 'float', 'packed', 'mask', 'spread'):
                    raise Bad(where, "unknown class of type '%s'" % words[3])
                self.types[words[1]] = (integer(where, words[2]), words[3])
            elif words[0] == 'element' and len(words) == 3:
                if words[1] in self.elements:
                    raise Bad(where, "element '%s' stands twice" % words[1])
                self.elements[words[1]] = integer(where, words[2])
            elif words[0] in ('kind', 'show') and len(words) == 2:
                names = self.kinds if words[0] == 'kind' else self.shows
                if words[1] in names:
                    raise Bad(where, "%s '%s' stands twice" % (words[0], words[1]))
                names.append(words[1])
            else:
                raise Bad(where, "expected 'type NAME BITS CLASS', 'element NAME BITS', 'kind NAME' or 'show NAME'")

    def read_targets(self, lines):
        for where, _, words in lines:
            if words[0] == 'limit' and len(words) == 2:
                self.limits.append(words[1])
            elif words[0] == 'llvm22' and len(words) >= 2:
                self.llvm22 = self.read_limits(where, words[1:], {})
            elif words[0] == 'node' and len(words) >= 3:
                self.read_node(where, words)
            elif words[0] == 'target' and len(words) >= 4:
                if words[1] in self.targets:
                    raise Bad(where, "target '%s' stands twice" % words[1])
                node = self.node(where, words[2])
                limits = self.read_limits(where, words[4:], self.nodes[node]['limits'])
                self.targets[words[1]] = Target(node, integer(where, words[3], 0), limits)
            elif words[0] == 'code' and len(words) == 4:
                ends = [integer(where, x, 16) for x in words[2].split('-')]
                if not 0 <= ends[0] <= ends[-1] <= 255:
                    raise Bad(where, "codes '%s' are not within 00-ff" % words[2])
                self.codes.append((self.node(where, words[1]), ends[0], ends[-1], words[3], where))
            else:
                raise Bad(where, "expected 'limit', 'node', 'llvm22', 'target' or 'code' with its words")

    def read_node(self, where, words):
        name, parent = words[1], words[2] if words[2] != '-' else None
        if name in self.nodes:
            raise Bad(where, "node '%s' stands twice" % name)
        if parent is not None:
            self.node(where, parent)
        limits = self.read_limits(where, words[3:], self.nodes[parent]['limits'] if parent else {})
        missing = [x for x in self.limits if x not in limits]
        if missing:
            raise Bad(where, "node '%s' has no limit '%s'" % (name, missing[0]))
        self.nodes[name] = {'parent': parent, 'limits': limits}

    def read_limits(self, where, words, inherited):
        """The inherited limits, overridden by LIMIT=VALUE words."""
        limits = dict(inherited)
        for word in words:
            key, _, value = word.partition('=')
            if key not in self.limits:
                raise Bad(where, "unknown limit '%s'" % key)
            limits[key] = integer(where, value)
        return limits

    def read_names(self, lines):
        for where, _, words in lines:
            if words[0] == 'group' and len(words) == 2:
                self.name_groups.append(words[1])
            elif words[0] in self.name_groups and len(words) == 4:
                node, at, later = words[1].partition('@')
                if later != at.replace('@', '22'):
                    raise Bad(where, "'%s' is neither NODE nor NODE@22" % words[1])
                self.names.append((words[0], self.node(where, node) + at, integer(where, words[2], 0), words[3]))
            else:
                raise Bad(where, "expected 'group NAME' or 'GROUP NODE VALUE TEXT'")

    # -- isa/encodings/*.enc ---------------------------------------------------------------------------
    def read_encodings(self, lines):
        layout = None
        for where, indented, words in lines:
            if indented:
                if layout is None:
                    raise Bad(where, 'a line of no layout')
                self.read_layout_line(where, layout, words)
                continue
            if layout is not None:
                self.check_overlap(layout)
            layout = None
            if words[0] == 'space' and any([s.name, s.node] == words[1:3] for s in self.spaces):
                raise Bad(where, "space '%s' stands twice at node %s" % (words[1], words[2]))
            if words[0] == 'space' and words[3:] == ['-']:
                self.spaces.append(Space(where, words[1], self.node(where, words[2]), None, []))
            elif words[0] == 'space' and words[3:4] == ['match'] and words[5:6] == ['op'] and set(words[7:]) <= {'second', 'wave32'}:
                self.spaces.append(self.read_space(where, words))
            elif words[0] == 'layout' and len(words) >= 7 and words[3] == 'in' and words[5] == 'dwords':
                layout = self.read_layout(where, words)
            elif words[0] == 'form' and len(words) >= 4:
                self.read_form(where, words)
            elif words[0] == 'class' and len(words) >= 3:
                if words[1] not in CLASSES:
                    raise Bad(where, "unknown class '%s'" % words[1])
                for family in words[2:]:
                    self.classes[family] = words[1]
            else:
                raise Bad(where, "expected 'space', 'layout', 'form' or 'class' with its words")
        if layout is not None:
            self.check_overlap(layout)

    def read_layout(self, where, words):
        name, node, space = words[1], self.node(where, words[2]), words[4]
        if not any(s.name == space for s in self.spaces):
            raise Bad(where, "unknown space '%s'" % space)
        layout = Layout(where, name, node, space, integer(where, words[6]))
        rest = words[7:]
        while rest:
            key, value, rest = rest[0], rest[1] if len(rest) > 1 else '', rest[2:]
            if key == 'from':
                base = self.layout(value, node)
                if base is None:
                    raise Bad(where, "unknown layout '%s'" % value)
                layout.operands.update(base.operands)
                layout.source_mods.update(base.source_mods)
                layout.fields.update(base.fields)
                layout.ignored += base.ignored
                layout.written += base.written
                layout.added += base.added
            elif key == 'ext' and value in EXTENSIONS:
                layout.extension = value
            else:
                raise Bad(where, "expected 'from LAYOUT' or 'ext EXTENSION', not '%s %s'" % (key, value))
        if (name, node) in self.layouts:
            raise Bad(where, "layout '%s' stands twice at node %s" % (name, node))
        self.layouts[name, node] = layout
        return layout

    def read_layout_line(self, where, layout, words):
        name, rest = words[0], words[1:]
        if not rest:
            raise Bad(where, "'%s' has no place" % name)
        if name == 'any':
            place, equals, value = rest[0].partition('=')
            layout.ignored += slices(where, place)
            if equals:
                layout.written.append((bits(where, place), integer(where, value, 16)))
                if integer(where, value, 16) >> bits(where, place)[1]:
                    raise Bad(where, "'%s' does not fit its bits" % rest[0])
        elif rest[0] == '-':
            if not any(x.pop(name, None) for x in (layout.fields, layout.operands, layout.source_mods)):
                raise Bad(where, "'%s' is not there to be removed" % name)
        elif '.' in name:
            part, _, role = name.partition('.')
            if part not in ('neg', 'abs', 'sext', 'alt') or role not in ROLES:
                raise Bad(where, "unknown source modifier '%s'" % name)
            layout.source_mods[name] = integer(where, rest[0])
        elif rest[0] in self.kinds:
            if name not in ROLES:
                raise Bad(where, "unknown role '%s'" % name)
            ignored = rest[-1] == '?'
            if rest[-1].startswith('adds:'):
                layout.added.append(Operand(where, '%s:%s' % (name, rest[-1][5:]), self))
            place = slices(where, rest[1]) if len(rest) > 1 and rest[1] != '?' else []
            layout.operands[name] = (rest[0], place, ignored)
        elif re.match(r'\d', rest[0]):
            self.read_field(where, layout, name, rest)
        else:
            raise Bad(where, "'%s' is neither an operand kind nor a bit range" % rest[0])

    def read_field(self, where, layout, name, rest):
        place = slices(where, rest[0])
        if len(rest) < 2 or rest[1] not in self.shows:
            raise Bad(where, "modifier '%s' does not say how it prints" % name)
        signed, per, only, ignored = False, None, None, False
        for word in rest[2:]:
            if word == 'signed':
                signed = True
            elif word == 'else:any':
                ignored = True
            elif word.startswith('per:'):
                per = word[4:]
            elif word.startswith('if:'):
                only = word[3:].split(',')
                for flag in only:
                    if flag not in ROW_FLAGS + FORM_FLAGS + MEMORY_FLAGS:
                        raise Bad(where, "unknown flag '%s'" % flag)
            else:
                raise Bad(where, "expected 'signed', 'per:', 'if:' or 'else:any', not '%s'" % word)
        layout.fields.pop(name, None)  # an overridden modifier prints at its new place
        layout.fields[name] = (place, rest[1], signed, per, only, ignored)

    def read_space(self, where, words):
        matches = [[], []]
        for part in words[4].split(','):
            place, _, values = part.partition('=')
            first, either, second = values.partition('|')
            for match, value in zip(matches, (first, second if either else first)):
                match.append(bits(where, place) + (integer(where, value, 16),))
        space, also = (Space(where, words[1], self.node(where, words[2]), match, slices(where, words[6]), 'second' in words[7:],
                             32 if 'wave32' in words[7:] else None) for match in matches)
        space.also = also if '|' in words[4] else None
        return space

    def check_overlap(self, layout):
        """Two modifiers, or a modifier and an operand, must not share bits; two operands may (their roles are used by different rows)."""
        used = {}
        for name, (place, *_) in layout.fields.items():
            for pos, width in place:
                if pos + width > 32 * layout.dwords:
                    raise Bad(layout.where, "modifier '%s' ends beyond the %d dwords of layout '%s'"
                              % (name, layout.dwords, layout.name))
                for bit in range(pos, pos + width):
                    if bit in used:
                        raise Bad(layout.where, "'%s' and '%s' overlap in layout '%s'" % (used[bit], name, layout.name))
                    used[bit] = name
        for role, (kind, place, _) in layout.operands.items():
            for pos, width in place:
                if pos + width > 32 * layout.dwords:
                    raise Bad(layout.where, "operand '%s' ends beyond the %d dwords of layout '%s'"
                              % (role, layout.dwords, layout.name))
                for bit in range(pos, pos + width):
                    if bit in used:
                        raise Bad(layout.where, "'%s' and '%s' overlap in layout '%s'" % (used[bit], role, layout.name))

    def read_form(self, where, words):
        form = Form(where, words[1], self.node(where, words[2]), words[3].split('|'))
        if words[1] not in self.classes:
            raise Bad(where, "unknown encoding '%s'" % words[1])
        for name in form.layouts:
            if not any(known == name for known, _ in self.layouts):
                raise Bad(where, "unknown layout '%s'" % name)
        for word in words[4:]:
            if word.startswith('_'):
                form.suffix = word
            elif word.startswith('+'):
                form.base = integer(where, word[1:], 16)
            elif word.startswith('unless:') and all(flag in FORM_FLAGS for flag in word[7:].split(',')):
                form.unless = word[7:].split(',')
            elif word.startswith('if:') and word[3:] in FORM_FLAGS:
                form.only = word[3:]
            else:
                raise Bad(where, "expected a suffix, '+BASE', 'if:FLAG' or 'unless:FLAG', not '%s'" % word)
        self.forms.append(form)

    def layout(self, name, node):
        return next((self.layouts[name, n] for n in self.chain(node) if (name, n) in self.layouts), None)

    def space(self, name, node):
        if len(self.space_at) != len(self.spaces):
            self.space_at = {(space.name, space.node): space for space in self.spaces}
        found = next((self.space_at[name, n] for n in self.chain(node) if (name, n) in self.space_at), None)
        return found if found and found.match else None

    # -- isa/*.isa -------------------------------------------------------------------------------------
    def read_rows(self, lines):
        row = None
        for where, _, words in lines:
            if words[0] == '|':
                if row is None:
                    raise Bad(where, 'a further encoding of no row')
            else:
                if not re.fullmatch(r'[a-z][a-z0-9_]*', words[0]):
                    raise Bad(where, "'%s' is no instruction name" % words[0])
                if words[0] in self.rows:
                    raise Bad(where, "row '%s' stands twice; the first is at %s:%d"
                              % ((words[0],) + self.rows[words[0]].where))
                row = self.rows[words[0]] = Row(where, words[0])
            if len(words) < 3:
                raise Bad(where, 'a row is: name, encoding, opcodes, operands, flags')
            if words[1] not in self.classes:
                raise Bad(where, "unknown encoding '%s'" % words[1])
            row.encodings.append(self.read_encoding(where, row, words[1], words[2:]))

    def read_encoding(self, where, row, family, words):
        encoding, by_node = Encoding(where, family), 'opcodes'
        flags = row.flags if not row.encodings else encoding.flags
        for word in words:
            key, colon, value = word.partition(':')
            if word in ('as', 'also', 'sem'):
                by_node = word
            elif key[0].isdigit() and colon and by_node == 'as':
                encoding.names[self.node(where, key)] = value
            elif key[0].isdigit() and colon and by_node == 'also':
                encoding.also[self.node(where, key)] = value
            elif key[0].isdigit() and colon and by_node == 'sem':
                self.read_body(where, row, key, value)
            elif key[0].isdigit() and colon:
                self.read_opcode(where, encoding, key, value)
            elif key in MEMORY_FLAGS and colon:
                self.read_memory(where, flags, key, value)
            elif key == 'sem' and colon:
                self.read_body(where, row, None, value)
            elif key in facts.KEYS and colon:
                self.read_fact(where, row, key, value)
            elif colon:
                operand = Operand(where, word, self)
                if encoding.operand(operand.role):
                    raise Bad(where, "role '%s' stands twice" % operand.role)
                encoding.operands.append(operand)
            elif word in ROW_FLAGS or word in FORM_FLAGS or word == 'memctl':
                flags[word] = True
            else:
                raise Bad(where, "unknown flag '%s'" % word)
        if not encoding.opcodes:
            raise Bad(where, "row '%s' has no opcode" % row.name)
        if row.encodings:
            if not encoding.operands:
                encoding.operands = row.encodings[0].operands
            if not encoding.flags:
                encoding.flags = dict(row.flags)
        else:
            encoding.flags = dict(flags)
        self.check_matrix(where, row, encoding)
        return encoding

    def check_matrix(self, where, row, encoding):
        """Checks that operands of matrix instructions are as wide as a lane's share of the matrix."""
        matrix = facts.matrix_of(row)
        if matrix is None:
            return
        lanes = self.nodes[next(iter(encoding.opcodes))]['limits'].get('wave', 64)
        sizes = facts.sizes_of(matrix, self.elements, lanes)
        if not matrix.sparse and encoding.operand('c'):
            sizes['c'] = sizes['d']
        for operand in encoding.operands:
            size = self.types[operand.type][0]
            if size not in sizes.get(operand.role, (size,)):
                raise Bad(where, "operand '%s' has %d bits; a lane's share of the matrix takes %s"
                          % (operand.role, size, ' or '.join(map(str, sorted(sizes[operand.role])))))

    def read_opcode(self, where, encoding, node, value):
        self.node(where, node)
        if node in encoding.opcodes:
            raise Bad(where, "two opcodes at node %s" % node)
        encoding.opcodes[node] = None if value == '-' else integer(where, value, 16)

    def read_body(self, where, row, node, value):
        """Sets the body from a node on; node None: on all targets."""
        if row.encodings:
            raise Bad(where, "a further encoding has the row's body")
        if node is not None:
            self.node(where, node)
        if node in row.bodies or (row.bodies and None in (node, *row.bodies)):
            raise Bad(where, 'two bodies' + (' at node ' + node if node else ''))
        row.bodies[node] = value

    def read_fact(self, where, row, key, value):
        if row.encodings:
            raise Bad(where, "'%s:' belongs to the first line of the row" % key)
        if key in row.facts or (key in ('matrix', 'sparse') and facts.matrix_of(row)):
            raise Bad(where, "'%s:' stands twice" % key)
        row.facts[key] = facts.read(where, key, value, self.elements)

    def read_memory(self, where, flags, key, value):
        m = re.fullmatch(r'(\d+)x(\d+)', value)
        if not m:
            raise Bad(where, "'%s:%s' must say ELEMENTSxBYTES" % (key, value))
        flags[key] = True
        flags['memory'] = (key, int(m.group(1)), int(m.group(2)))

    # -- isa/fidelity ----------------------------------------------------------------------------------
    def read_fidelity(self, lines):
        for where, _, words in lines:
            if ':' not in words:
                raise Bad(where, "no remark; write 'GRADE NAME... : REMARK'")
            at = words.index(':')
            grade, names, remark = words[0], words[1:at], ' '.join(words[at + 1:])
            if not remark or '"' in remark or '\\' in remark:
                raise Bad(where, 'a remark is words without " and \\')
            if grade == 'general' and not names:
                self.general.append(remark)
                continue
            if grade not in GRADES:
                raise Bad(where, "unknown grade '%s'" % grade)
            conditions = dict(n.split(':', 1) for n in names if ':' in n)
            field, nodes, prefix = None, set(self.nodes), ''
            for key, value in conditions.items():
                if key == 'if':
                    field = value
                    if not any(field in layout.fields for layout in self.layouts.values()):
                        raise Bad(where, "no instruction has a modifier '%s'" % field)
                elif key in ('before', 'from'):
                    below = {node for node in self.nodes if self.node(where, value) in self.chain(node)}
                    nodes = nodes & below if key == 'from' else nodes - below
                    prefix = 'before gfx%s: ' % value if key == 'before' else 'from gfx%s on: ' % value
                else:
                    raise Bad(where, "unknown condition '%s:'; expected if:, before: or from:" % key)
            excluded = [n[1:] for n in names if n.startswith('-')]
            for pattern in names:
                if ':' not in pattern and not pattern.startswith('-'):
                    self.grade_rows(where, pattern, excluded, Grade(where, grade, field, nodes, prefix + remark))
        for row in self.rows.values():
            if 'approx' in row.flags and not any(g.name == 'approx' for g in row.grades):
                raise Bad(row.where, "row '%s' is approx, but no line of fidelity says how far" % row.name)
            if 'todo' in row.flags and not row.missing:
                raise Bad(row.where, "row '%s' is todo, but no line of fidelity says why" % row.name)

    def grade_rows(self, where, pattern, excluded, grade):
        rows = [row for name, row in self.rows.items() if fnmatch.fnmatchcase(name, pattern) and
                not any(fnmatch.fnmatchcase(name, other) for other in excluded)]
        if not rows:
            raise Bad(where, "no row is called '%s'" % pattern)
        for row in rows:
            if grade.name == 'approx' and 'approx' not in row.flags:
                raise Bad(where, "row '%s' has no flag approx" % row.name)
            if grade.name == 'todo':
                self.say_why_missing(where, row, grade.remark)
                continue
            twice = next((g for g in row.grades if g.field == grade.field and g.nodes & grade.nodes), None)
            if twice:
                raise Bad(where, "row '%s' is graded twice; the first is at %s:%d" % ((row.name,) + twice.where))
            row.grades.append(grade)

    def say_why_missing(self, where, row, remark):
        if 'todo' not in row.flags:
            raise Bad(where, "row '%s' has no flag todo" % row.name)
        if row.missing:
            raise Bad(where, "row '%s' has two reasons for todo" % row.name)
        row.missing = remark
