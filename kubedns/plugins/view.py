r"""view: a server block for those queries alone that meet a condition.

Syntax::

    view NAME {
        expr EXPRESSION
    }

Several server blocks may serve a zone on one port if all of them have a ``view``, but for the last: a query goes to
the first whose expressions all hold, and failing that to the block of a shorter zone. NAME is the label ``view`` of
metrics.

An EXPRESSION compares (``==`` ``!=`` ``<`` ``<=`` ``>`` ``>=``), looks into texts (``matches``, ``contains``,
``startsWith``, ``endsWith``) and lists (``in``, ``not in``), and joins (``&&`` ``and``, ``||`` ``or``, ``!`` ``not``)
what these say of a query: ``name()`` in lower case with its final dot, ``type()``, ``class()``, ``client_ip()``,
``port()``, ``server_ip()``, ``proto()`` (``udp`` or ``tcp``), ``do()``, ``bufsize()``, ``size()``, ``id()``,
``opcode()``, and ``incidr(ADDRESS, NETWORK)``. Texts stand in quotes. Where answers are chosen by ``port()``,
``server_ip()``, ``size()`` or ``id()`` none is kept ready.

Example::

    example.org:1053 {
        view inside {
            expr incidr(client_ip(), '10.0.0.0/8') && type() in ['A', 'AAAA']
        }
        hosts {
            10.0.0.1 www.example.org
        }
    }
    example.org:1053 {
        hosts {
            192.0.2.1 www.example.org
        }
    }
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from kubedns.corefile.blocks import Directive, Word
from kubedns.corefile.options import PluginOptions, arguments, repeated
from kubedns.corefile.shapes import Shape
from kubedns.corefile.values import Text
from kubedns.dns.question import Query
from kubedns.plugins.plugin import Context
from kubedns.plugins.view_expression import parse_expression
from kubedns.plugins.view_facts import FUNCTIONS, ExpressionError, Term
from kubedns.plugins.view_terms import all_of


class ExpressionWords(Shape[Term]):
    """``EXPRESSION``, over as many words as it has blanks."""

    syntax = "EXPRESSION"

    def read(self, line: Directive) -> Term:
        """The condition."""
        words = self.words(line, 1)
        text = words[0].text if len(words) == 1 else " ".join(map(_written, words))
        try:
            return parse_expression(text)
        except ExpressionError as error:
            remedy = error.remedy or f"write it like type() == 'A'; functions: {', '.join(FUNCTIONS)}"
            raise line.word.fault(f"`{text}`: {error}", remedy) from error


def _written(word: Word) -> str:
    """The word with the quotes that the Corefile's own reader has taken off."""
    return '"' + word.text.replace("\\", "\\\\").replace('"', '\\"') + '"' if word.quoted else word.text


@dataclass(frozen=True, slots=True)
class Options(PluginOptions):
    """view NAME { ... }: a server block for some queries alone."""

    name: str = arguments(Text(syntax="NAME"), help="the view's name, for metrics")
    conditions: tuple[Term, ...] = repeated(
        ExpressionWords(), words=("expr",), needed=True, help="what must hold of a query"
    )


class View:
    """The queries of which ``condition`` holds."""

    word = "view"

    def __init__(self, name: str, condition: Term) -> None:
        self.name = name
        self.is_volatile = condition.is_volatile
        self._condition = condition
        self._networks = tuple(condition.networks)

    def takes(self, query: Query) -> bool:
        """Whether ``query`` is for this server block."""
        return bool(self._condition.of(query))

    def client_class(self, address: bytes) -> Hashable:
        """All that the condition can depend on of a client."""
        return tuple([network.holds(address) for network in self._networks]), self._condition.by_address and address


def make(options: Options, context: Context) -> View:
    """The plugin."""
    return View(options.name, all_of(options.conditions))
