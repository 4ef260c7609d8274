"""Irregular forms of frequent English nouns and verbs, in lower case."""

from __future__ import annotations


def forms_of_each(text: str) -> list[tuple[str, ...]]:
    """The forms of each word: singular and plural, or base, third person, past forms and the form in -ing."""
    return [tuple(row.split()) for row in text.split(",")]


IRREGULAR_NOUNS = forms_of_each("""
man men, woman women, child children, foot feet, tooth teeth, mouse mice, goose geese, person people, wife wives,
life lives, knife knives, wolf wolves, leaf leaves, half halves, shelf shelves, thief thieves, ox oxen,
gentleman gentlemen, analysis analyses, crisis crises, hypothesis hypotheses, phenomenon phenomena, criterion criteria
""")

IRREGULAR_VERBS = forms_of_each("""
go goes went gone going, do does did done doing, have has had having, say says said saying, make makes made making,
take takes took taken taking, come comes came coming, see sees saw seen seeing, know knows knew known knowing,
get gets got getting, give gives gave given giving, find finds found finding, think thinks thought thinking,
tell tells told telling, become becomes became becoming, leave leaves left leaving, feel feels felt feeling,
bring brings brought bringing, begin begins began begun beginning, keep keeps kept keeping, hold holds held holding,
write writes wrote written writing, stand stands stood standing, hear hears heard hearing, mean means meant meaning,
meet meets met meeting, run runs ran running, pay pays paid paying, sit sits sat sitting, lead leads led leading,
speak speaks spoke spoken speaking, lie lies lay lain lying, grow grows grew grown growing, lose loses lost losing,
fall falls fell fallen falling, send sends sent sending, build builds built building, draw draws drew drawn drawing,
break breaks broke broken breaking, spend spends spent spending, rise rises rose risen rising, buy buys bought buying,
drive drives drove driven driving, wear wears wore worn wearing, choose chooses chose chosen choosing,
eat eats ate eaten eating, drink drinks drank drunk drinking, sing sings sang sung singing, win wins won winning,
swim swims swam swum swimming, fly flies flew flown flying, forget forgets forgot forgotten forgetting,
forgive forgives forgave forgiven forgiving, hide hides hid hidden hiding, ride rides rode ridden riding,
shake shakes shook shaken shaking, steal steals stole stolen stealing, throw throws threw thrown throwing,
wake wakes woke woken waking, teach teaches taught teaching, catch catches caught catching, sell sells sold selling,
fight fights fought fighting, sleep sleeps slept sleeping, understand understands understood understanding,
seek seeks sought seeking, bend bends bent bending, bite bites bit bitten biting, blow blows blew blown blowing,
ring rings rang rung ringing, sink sinks sank sunk sinking, lend lends lent lending, bind binds bound binding,
hurt hurts hurting, cut cuts cutting, put puts putting, let lets letting, hit hits hitting, cost costs costing,
set sets setting, shut shuts shutting, split splits splitting, spread spreads spreading, quit quits quitting,
read reads reading, beat beats beaten beating, feed feeds fed feeding, lay lays laid laying, hang hangs hung hanging,
dig digs dug digging, stick sticks stuck sticking, strike strikes struck striking, swear swears swore sworn swearing,
tear tears tore torn tearing, weave weaves wove woven weaving, freeze freezes froze frozen freezing,
shrink shrinks shrank shrunk shrinking, stink stinks stank stunk stinking, spring springs sprang sprung springing,
swing swings swung swinging, cling clings clung clinging, fling flings flung flinging, sting stings stung stinging,
creep creeps crept creeping, weep weeps wept weeping, sweep sweeps swept sweeping, deal deals dealt dealing,
shoot shoots shot shooting, slide slides slid sliding, spin spins spun spinning, bleed bleeds bled bleeding,
breed breeds bred breeding, bear bears bore borne bearing, withdraw withdraws withdrew withdrawn withdrawing,
overcome overcomes overcame overcoming, arise arises arose arisen arising, flee flees fled fleeing,
light lights lit lighting, grind grinds ground grinding, wind winds wound winding, shine shines shone shining,
forbid forbids forbade forbidden forbidding, undergo undergoes underwent undergone undergoing,
undertake undertakes undertook undertaken undertaking, mistake mistakes mistook mistaken mistaking,
foresee foresees foresaw foreseen foreseeing, withstand withstands withstood withstanding
""")
_NOUNS = {form: forms[0] for forms in IRREGULAR_NOUNS for form in forms[1:]}
_VERBS = {form: forms[0] for forms in IRREGULAR_VERBS for form in forms[1:]}


def base_form(word: str, tag: str) -> str:
    """The base of an irregular form in lower case whose tag is that of an English noun or verb, else the word.

    >>> base_form("saw", "VBD"), base_form("saw", "NN"), base_form("women", "NNS")
    ('see', 'saw', 'woman')
    """
    return (_VERBS if tag.startswith("VB") else _NOUNS if tag.startswith("NN") else {}).get(word, word)
