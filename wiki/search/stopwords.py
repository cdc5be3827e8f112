"""Words too common to search for, by language (ISO 639-1): data, compared after :func:`wiki.search.text.fold`.

Small on purpose: function words only. A word that could be what somebody looks for ("will", "state") is not here.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from wiki.search.text import fold

_LISTS: Final[dict[str, str]] = {
    "en": """a about above after again against all also am an and any are as at be because been before being below
        between both but by can could did do does doing don down during each few for from further had has have having
        he her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor
        not now of off on once only or other our ours ourselves out over own s same she should so some such t than
        that the their theirs them themselves then there these they this those through to too under until up upon very
        was we were what when where which while who whom why with would you your yours yourself yourselves""",
    "it": """a ad agli ai al alla alle allo anche avere c che chi ci cio come con cosa cui d da dagli dai dal dalla
        dalle dallo degli dei del della delle dello di dove e ed era erano essere fa fra gli ha hanno ho i il in io
        l la le lei li lo loro lui ma mi mia mie mio ne negli nei nel nella nelle nello no noi non nostra nostri nostro
        o per perche piu quale quali quando quanto quella quelle quelli quello questa queste questi questo se sei si
        sia siamo sono su sua sue sugli sui sul sulla sulle sullo suo suoi ti tra tu tua tuo un una uno vi voi""",
    "de": """aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da damit dann das dass
        dein dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem
        einen einer eines er es euch euer fur gegen hab habe haben hat hatte hatten hier hinter ich ihm ihn ihnen ihr
        ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen konnen mein
        mich mir mit nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie sind so
        solche uber um und uns unser unter vom von vor wann war waren warum was weil welche welchem welchen welcher
        welches wenn wer werden wie wir wird wo wurde wurden zu zum zur zwischen""",
    "fr": """a ai au aussi aux avait avec avoir c ce ces cet cette ceux chez comme comment d dans de des deux donc dont
        du elle elles en entre est et etaient etait etant ete etre eu eux il ils j je l la le les leur leurs lui m ma
        mais me meme mes moi mon n ne ni nos notre nous on ont ou par pas plus pour pourquoi qu quand que quel quelle
        quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute toutes tu
        un une vos votre vous y""",
    "es": """a al algo algunas algunos ante antes aqui como con contra cual cuales cuando de del desde donde durante e
        el ella ellas ellos en entre era eran eres es esa esas ese eso esos esta estaba estan estar estas este esto
        estos fue fueron ha habia han hasta hay la las le les lo los mas me mi mis mucho muy nada ni no nos nosotros
        nuestra nuestro o os otra otro para pero por porque que quien quienes se ser si sin sobre solo son soy su sus
        tambien te tiene tienen tu tus un una unas uno unos y ya yo""",
    "pt": """a ao aos aquela aquele aquilo as ate com como da das de dela dele deles depois do dos e ela elas ele eles
        em entre era eram essa esse esta estao estar estas este estes eu foi foram ha isso isto ja lhe lhes mais mas me
        mesmo meu meus minha muito na nao nas nem no nos nossa nosso num numa o onde os ou para pela pelas pelo pelos
        por porque qual quando que quem sao se seja sem ser seu seus so sua suas tambem te tem tinha tu tua um uma
        umas uns voce voces""",
    "nl": """aan al alles als altijd ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen haar
        had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon maar me meer men met mij mijn
        na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u uit uw van veel voor
        waar waarom was wat we wel werd wie wij worden wordt zal ze zelf zich zij zijn zo zonder""",
    "sv": """alla att av blev bli den denna deras dess det detta dig din du dar efter ej eller en er ett for fran ha
        hade han hans har hon honom hur har i icke inte jag kan kunde man med mellan men mig min mycket nar nu och om
        oss pa sa sedan sig sin sina skulle som till under upp ut utan vad var vara vi vid vilken vill ar at over""",
    "da": """af alle at blev blive da de den denne der deres det dette dig din du efter eller en end er et for fra ham
        han hans har havde hende hos hun hvad hvis hvor i ikke ind jeg jer kan kunne man med meget men mig min mod nar
        noget nogle nu og ogsa om op os over pa sa sig sin sit skal skulle som til ud under var vi vil ville vor""",
    "no": """alle at av ble bli da de den denne der deres det dette dine du eller en enn er et etter for fra ham han
        hans har hadde hun hva hvem hvis hvor i ikke inn jeg kan kunne man med meg men mot nar noe noen nå og ogsa om
        opp oss over pa sa seg sin skal skulle som til under ut var vi vil ville ved""",
    "pl": """a aby ale bardzo bez bo by byc byl byla bylo byly co czy dla do gdy gdzie go i ich ja jak jako je jego jej
        jest jeszcze juz kiedy kto ktora ktore ktory lub ma mi mnie moze na nad nam nas nie niz o od on ona one oni
        oraz po pod przed przez przy sa sie sobie tak tam te tego tej ten to tu tym w we wiec z za ze""",
    "ru": """а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если
        есть еще же за здесь и из или им их к как какая какой когда который кто ли либо мне может мы на над надо нас не
        него нее нет ни них но ну о об однако он она они оно от перед по под при с со так также такой там те тем то
        того тоже только том ты у уже хотя чего чей чем что чтобы эта эти это этой этот я""",
}


@cache
def stopwords() -> dict[str, frozenset[str]]:
    """Language code to its folded stopwords, English first (it wins ties of :func:`wiki.search.query.analyse`)."""
    return {lang: frozenset(fold(words).split()) for lang, words in _LISTS.items()}
