"""The words by which a brief tells what is asked for, in English, Italian, French, German and Spanish. Data only.

Phrases are compared word by word after :func:`wiki.prime.asking.phrases.normalised`; an apostrophe parts words.
"""

from __future__ import annotations

from typing import Final

from wiki.prime.domains import TaskType

EXPLORE: Final = "explore"
"""What a brief asks for that has none of these words."""

#: In this order: the first type of which a word is there is meant.
TASK_TYPES: Final = (
    TaskType(
        "compare",
        (
            *("compare", "comparison", "comparing", "contrast", "difference", "differences", "differ", "differs"),
            *("vs", "versus", "better than"),
            *("confronta", "confrontare", "confronto", "differenza", "differenze", "paragona", "paragone"),
            *("compare", "comparer", "comparez", "comparaison", "différence", "différences"),
            *("vergleich", "vergleiche", "vergleichen", "unterschied", "unterschiede", "unterscheiden"),
            *("compara", "comparar", "comparación", "diferencia", "diferencias"),
        ),
        ("comparison",),
    ),
    TaskType(
        "synthesize",
        (
            *("summarize", "summarise", "summary", "synthesize", "synthesise", "synthesis", "overview", "state of"),
            *("riassumi", "riassumere", "riassunto", "sintetizza", "sintesi", "panoramica"),
            *("résume", "résumer", "résumez", "résumé", "synthèse", "synthétise", "vue d'ensemble", "aperçu"),
            *("zusammenfassung", "zusammenfassen", "fasse", "überblick", "übersicht"),
            *("resume", "resumir", "resumen", "sintetiza", "síntesis", "panorama"),
        ),
        ("synthesis",),
    ),
    TaskType(
        "trace",
        (
            *("source", "sources", "cite", "citation", "citations", "evidence", "who said", "according to"),
            *("fonte", "fonti", "cita", "citazione", "citazioni", "prova", "prove", "chi ha detto", "secondo chi"),
            *("source", "sources", "citer", "citation", "citations", "preuve", "preuves", "qui a dit"),
            *("quelle", "quellen", "beleg", "belege", "zitat", "zitate", "zitiere", "wer sagte", "wer hat gesagt"),
            *("fuente", "fuentes", "cita", "citas", "prueba", "pruebas", "quién dijo"),
        ),
        ("source",),
    ),
    TaskType(
        "author",
        (
            *("write", "draft a", "draft an", "draft the", "compose", "update", "rewrite", "extend the page"),
            *("create a", "create an", "create the", "add a page", "add a section"),
            *("scrivi", "scrivere", "redigi", "aggiorna", "aggiornare", "riscrivi", "crea una", "crea un"),
            *("écris", "écrire", "écrivez", "rédige", "rédiger", "rédigez", "mets à jour", "crée une", "créer une"),
            *("schreibe", "schreib", "schreiben", "entwirf", "verfasse", "verfassen", "aktualisiere"),
            *("erstelle", "erstellen"),
            *("escribe", "escribir", "redacta", "redactar", "actualiza", "actualizar"),
        ),
    ),
    TaskType(
        "validate",
        (
            *("check", "review", "validate", "verify", "proofread"),
            *("controlla", "controllare", "verifica", "verificare", "rivedi", "valida"),
            *("vérifie", "vérifier", "vérifiez", "relis", "relire", "valide", "valider", "contrôle"),
            *("prüfe", "prüfen", "überprüfe", "überprüfen", "kontrolliere", "gegenlesen"),
            *("comprueba", "comprobar", "revisa", "revisar", "verifica", "verificar"),
        ),
    ),
    TaskType(
        "lookup",
        (
            *("what is", "what are", "what was", "who is", "who was", "when was", "where is", "define", "definition"),
            *("explain", "meaning of", "how does", "how do"),
            *("che cos'è", "cos'è", "cosa è", "che cosa sono", "chi è", "chi era", "definisci", "definizione"),
            *("spiega", "spiegare", "come funziona"),
            *("qu'est-ce que", "qu'est-ce qu", "qui est", "qui était", "définis", "définition", "explique"),
            *("expliquer", "comment fonctionne"),
            *("was ist", "was sind", "wer ist", "wer war", "definiere", "erkläre", "erklären", "bedeutung von"),
            *("wie funktioniert",),
            *("qué es", "qué son", "quién es", "quién era", "define", "definición", "explica", "cómo funciona"),
        ),
        ("entity", "concept"),
    ),
)

#: These hold a word of a task and ask for none.
NO_TASK: Final = ("open source", "source code", "code source", "código fuente", "fuente abierta", "peer review")

#: What stands behind one of these is not wanted.
AVOIDING: Final = (
    *("without", "avoid", "avoiding", "except", "excluding", "leave out", "leaving out", "but not", "not about"),
    *("do not mention", "don't mention"),
    *("senza", "evita", "evitando", "evitare", "tranne", "eccetto", "escluso", "esclusi", "esclusa", "non citare"),
    *("sans", "évite", "éviter", "évitant", "évitez", "sauf", "excepté", "hormis"),
    *("ohne", "vermeide", "vermeiden", "außer", "ausser", "ausgenommen", "nicht über"),
    *("sin", "evita", "evitar", "evitando", "excepto", "salvo", "menos"),
)

#: Words of AVOIDING that mean something else elsewhere (a sin, sans serif), and the languages in which they avoid.
AVOIDING_IN: Final = {
    "sin": ("es",),
    "sans": ("fr",),
    "sauf": ("fr",),
    "salvo": ("es", "it"),
    "menos": ("es",),
    "evita": ("es", "it"),
}

#: These hold a word of AVOIDING and keep nothing out: at least, more or less, less than.
NOT_AVOIDING: Final = ("al menos", "por lo menos", "más o menos", "menos de", "nada menos", "sin embargo", "sin duda")

#: Between a word that avoids and what is avoided: without *mentioning* it.
SAYING: Final = frozenset(
    (
        *("mention", "mentioning", "using", "citing", "naming", "discussing", "including", "talking", "referring"),
        *("parlare", "citare", "menzionare", "nominare", "usare", "includere"),
        *("parler", "citer", "mentionner", "nommer", "utiliser", "inclure"),
        *("hablar", "citar", "mencionar", "nombrar", "usar", "incluir"),
    )
)

#: What goes on with more that is to be avoided: neither this nor that.
ALTERNATIVE: Final = frozenset(("or", "nor", "o", "né", "ou", "ni", "oder", "noch", "u"))

#: A word that begins the next part of a sentence, and so ends what is to be avoided.
JOINING: Final = frozenset(
    (
        *("and", "but", "then", "while", "because", "e", "ma", "poi", "mentre", "perché"),
        *("et", "mais", "puis", "parce", "und", "aber", "dann", "weil", "y", "pero", "luego", "porque"),
    )
)

#: Pairs of quotation marks. The straight one closes itself.
QUOTES: Final = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("»", "«"), ("「", "」"), ("『", "』"))

#: A character that only one language, among those that are told apart by their script, is written with.
SCRIPTS: Final = (
    ("ja", "\u3041-\u30ff"),
    ("ko", "\uac00-\ud7a3"),
    ("zh", "\u4e00-\u9fff"),
    ("ru", "\u0400-\u04ff"),
    ("el", "\u0370-\u03ff"),
    ("he", "\u0590-\u05ff"),
    ("ar", "\u0600-\u06ff"),
    ("hi", "\u0900-\u097f"),
    ("th", "\u0e00-\u0e7f"),
)
