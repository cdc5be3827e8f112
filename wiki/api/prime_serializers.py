"""What the addresses under /prime take and give; the same as the tools of these names."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from wiki.api.fields import Flag, Text, Whole
from wiki.prime.asking.bounds import DEFAULT_BUDGET, DEFAULT_TOKENS, KINDS, MAX_BUDGET
from wiki.prime.atoms.levels import Level

_LEVELS: Final = [str(level) for level in Level]


def _names(help_text: str, **options: Any) -> serializers.ListField:
    return serializers.ListField(child=Text(min_length=1, max_length=500), help_text=help_text, **options)


class PrimeQueryRequestSerializer(serializers.Serializer[Any]):
    """Which pages, how long, and how much of them."""

    scope = Text(
        required=False,
        default=None,
        allow_null=True,
        help_text="axis:value: type, tag, path, source, lang, domain, page, focus (words), or an axis of a domain",
    )
    tags = _names("all must match", required=False, default=list)
    level = Text(required=False, default="core", help_text=f"one of {', '.join(_LEVELS)}")
    budget_tokens = Whole(required=False, default=DEFAULT_BUDGET, help_text=f"1 to {MAX_BUDGET:,}, clamped")
    kinds = _names(f"only these: {', '.join(KINDS)}", required=False, default=None, allow_null=True)
    exclude_ids = _names("atoms to leave out", required=False, default=list)
    include_text = Flag(required=False, default=False, help_text="each hit with its words")


class PrimeBriefRequestSerializer(serializers.Serializer[Any]):
    """A task in free words."""

    brief = Text(help_text="what is to be done, in any words")
    domain = Text(required=False, default=None, allow_null=True)


class PrimeResolveRequestSerializer(PrimeBriefRequestSerializer):
    """A task, and how much context it may have."""

    max_tokens = Whole(required=False, default=DEFAULT_TOKENS, help_text=f"1 to {MAX_BUDGET:,}, clamped")
    include_text = Flag(required=False, default=False, help_text="each hit with its words")


class PrimeValidateRequestSerializer(serializers.Serializer[Any]):
    """A text, and the atoms it was made from."""

    artifact = Text()
    atom_set = _names("ids, titles, aliases or paths")
    validators = _names(  # type: ignore[assignment]  # a field of a serializer may have any name
        "only these; else all of the domain", required=False, default=None, allow_null=True
    )


class PrimeCompileRequestSerializer(serializers.Serializer[Any]):
    """A wiki page, or an atom in the brace form."""

    source = Text()  # type: ignore[assignment]  # as above
    deep = Flag(required=False, default=False, help_text="look at what it says, too (layer L2)")


class PrimeHitSerializer(serializers.Serializer[Any]):
    """An atom that was taken."""

    id = serializers.CharField(help_text="@scope/kind-slug")
    kind = serializers.CharField()
    tokens = serializers.IntegerField(help_text="of the level")
    path = serializers.CharField(help_text="the page's file, from the vault's root")
    explanation = serializers.CharField(allow_blank=True)
    uri = serializers.CharField(help_text="the level as an MCP resource")
    level = serializers.ChoiceField(_LEVELS)
    page_tokens = serializers.IntegerField(help_text="of the whole page")
    text = serializers.CharField(required=False, help_text="with include_text: the level, word by word")


class PrimeOmittedSerializer(serializers.Serializer[Any]):
    """An atom that did not fit."""

    id = serializers.CharField()
    tokens = serializers.IntegerField()
    reason = serializers.CharField()


class PrimeQuerySerializer(serializers.Serializer[Any]):
    """The best that fit."""

    hits = PrimeHitSerializer(many=True)
    total_tokens = serializers.IntegerField()
    omitted = PrimeOmittedSerializer(many=True, help_text="at most ten")


class PrimeIntentSerializer(serializers.Serializer[Any]):
    """What a brief asks for; a domain adds fields of its own."""

    domain = serializers.CharField()
    task_type = serializers.CharField()
    terms = _names("content words")
    tags = _names("of the vault or the domain")
    pages = _names("ids of the pages it names")
    kinds = _names("kinds that serve the task")
    axes = serializers.DictField(child=serializers.CharField())
    must = _names("quoted words")
    avoid = _names("what it does not want")
    lang = serializers.CharField(allow_blank=True, help_text="ISO 639-1; empty where the words do not tell")
    required_axes = _names("axes that the domain asks for and the brief does not name")
    ambiguity_flags = _names("what was not clear")
    confidence = serializers.FloatField(help_text="0 to 1")


class PrimeUnmetSerializer(serializers.Serializer[Any]):
    """What must be there and is not."""

    name = serializers.CharField()
    reason = serializers.CharField()


class PrimeContractSerializer(serializers.Serializer[Any]):
    """What the answer must hold and must not."""

    must_include = _names("ids, or words")
    must_avoid = _names("ids, or words")
    unmet = PrimeUnmetSerializer(many=True)


class PrimeConflictSerializer(serializers.Serializer[Any]):
    """Two demands that can't both be met."""

    name = serializers.CharField()
    kept = serializers.CharField()
    dropped = serializers.CharField()


class PrimeResolveSerializer(PrimeQuerySerializer):
    """The context for a brief."""

    intent = PrimeIntentSerializer()
    contract = PrimeContractSerializer()
    conflicts = PrimeConflictSerializer(many=True)


class PrimeFixSerializer(serializers.Serializer[Any]):
    """One fault and what to do."""

    validator = serializers.CharField()
    severity = serializers.ChoiceField(["warning", "error"])
    message = serializers.CharField()
    suggestion = serializers.CharField(required=False)


class PrimeValidateSerializer(serializers.Serializer[Any]):
    """The verdict."""

    ok = serializers.BooleanField(help_text="no fix is an error")
    fixes = PrimeFixSerializer(many=True)


class PrimePlaceSerializer(serializers.Serializer[Any]):
    """Where in a source."""

    file = serializers.CharField()
    line = serializers.IntegerField()


class PrimeDiagnosticSerializer(serializers.Serializer[Any]):
    """One remark on a source."""

    level = serializers.ChoiceField(["error", "warning", "info"])
    layer = serializers.ChoiceField(["L1", "L2", "L3"])
    atom = serializers.CharField()
    message = serializers.CharField()
    hint = serializers.CharField(required=False)
    source = PrimePlaceSerializer(required=False)  # type: ignore[assignment]  # as above


class PrimeChunksSerializer(serializers.Serializer[Any]):
    """The three levels."""

    summary = serializers.CharField()
    core = serializers.CharField()
    full = serializers.CharField()


class PrimeCompiledSerializer(serializers.Serializer[Any]):
    """The atom, its relations and its levels."""

    atom_yaml = serializers.DictField()
    graph_yaml = serializers.DictField()
    chunks = PrimeChunksSerializer()


class PrimeCompileSerializer(serializers.Serializer[Any]):
    """What a source makes."""

    ok = serializers.BooleanField()
    diagnostics = PrimeDiagnosticSerializer(many=True)
    compiled = PrimeCompiledSerializer(allow_null=True)
