"""English words that the grammar rules use, in lower case.

They are closed classes, with the works that list them, and frequent given names in the USA (the gender of other names
is counted in parsed text).
"""

from __future__ import annotations

from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """The words of a text with spaces between them."""
    return frozenset(text.split())


class Pronoun(NamedTuple):
    """Person (1-3), number (`s`, `p`, or `-` for both), gender (`m`, `f`, `n`, or `-`)."""

    person: int
    number: str
    gender: str


NOMINATIVE = {
    "i": Pronoun(1, "s", "-"), "he": Pronoun(3, "s", "m"), "she": Pronoun(3, "s", "f"), "we": Pronoun(1, "p", "-"),
    "they": Pronoun(3, "p", "-"),
}  # fmt: skip
ACCUSATIVE = {
    "me": Pronoun(1, "s", "-"), "him": Pronoun(3, "s", "m"), "us": Pronoun(1, "p", "-"), "them": Pronoun(3, "p", "-"),
}  # fmt: skip
EITHER_CASE = {"you": Pronoun(2, "-", "-"), "it": Pronoun(3, "s", "n"), "her": Pronoun(3, "s", "f")}
INDEFINITE = {
    form: Pronoun(3, "s", gender)
    for head, gender in (("one", "-"), ("body", "-"), ("thing", "n"))
    for form in (f"every{head}", f"some{head}", f"any{head}", f"no{head}")
}
INDEFINITE_PERSONS = word_set(
    "everyone everybody someone somebody anyone anybody nobody one each person child anyone who"
)  # `themselves` may refer to these
PERSONAL = NOMINATIVE | ACCUSATIVE | EITHER_CASE
REFLEXIVES = {
    "myself": Pronoun(1, "s", "-"), "yourself": Pronoun(2, "s", "-"), "himself": Pronoun(3, "s", "m"),
    "herself": Pronoun(3, "s", "f"), "itself": Pronoun(3, "s", "n"), "ourselves": Pronoun(1, "p", "-"),
    "yourselves": Pronoun(2, "p", "-"), "themselves": Pronoun(3, "p", "-"),
}  # fmt: skip
ACCUSATIVE_OF = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
NOMINATIVE_OF = {"me": "i", "him": "he", "us": "we", "them": "they"}

FINITE = {
    "is": "s", "was": "s", "has": "s", "does": "s", "'s": "s", "are": "p", "were": "p", "have": "p", "do": "p",
    "'re": "p", "'ve": "p", "am": "1", "'m": "1",
}  # fmt: skip
OTHER_NUMBER = {"is": "are", "was": "were", "has": "have", "does": "do"}
OTHER_NUMBER |= {plural: singular for singular, plural in OTHER_NUMBER.items()}
DEMONSTRATIVES = {"this": "these", "these": "this", "that": "those", "those": "that"}  # the other number of each
MODALS = word_set("can could will would shall should may might must ca wo sha 'll 'd")
FINITE_AUXILIARIES = MODALS | frozenset(FINITE) | {"had", "did"}

SINGULAR_DETERMINERS = word_set("a an this that each every another either neither")
PLURAL_DETERMINERS = word_set(
    "these those many several few both two three four five six seven eight nine ten eleven twelve twenty thirty "
    "forty fifty sixty hundred"
)
QUANTITY_NOUNS = word_set("lot lots number couple majority plenty variety handful dozens hundreds thousands")

# Negative polarity items and what licenses them: Ladusaw (1979), for `only` Atlas (1996).
POLARITY = word_set("ever any anybody anyone anything anywhere")
FREE_CHOICE = POLARITY - {"ever"}  # may stand without a licensor beside modals and before modifiers (Ladusaw 1979)
NEGATION = word_set(
    "not n't never no nobody nothing nowhere none neither nor without hardly scarcely barely rarely seldom few little"
)
OTHER_LICENSORS = word_set(
    "if whether unless before than only too doubt doubts doubted deny denies denied refuse refuses refused every "
    "all most least first lest forbid forbade prevent prevented"
)
LICENSORS = NEGATION | OTHER_LICENSORS

# Strong determiners, which do not stand in existential sentences (Milsark 1974).
STRONG = frozenset(["each", "every", "most", "all", "both"])

# Predicates that give their subject or object a role of its own, so that an expletive cannot stand there (Rosenbaum
# 1967; Postal 1974), and predicates that do not.
SUBJECT_CONTROL = word_set(
    "try attempt manage hope plan intend decide refuse agree promise learn forget remember strive struggle "
    "hesitate choose aim offer swear vow wish desire endeavor endeavour dare care consent demand prepare resolve "
    "scheme seek volunteer yearn long pretend want love hate prefer able unable eager willing unwilling reluctant "
    "anxious keen happy glad afraid determined prepared hesitant ashamed proud careful content ready delighted "
    "desperate"
)
RAISING = word_set(
    "seem appear happen turn tend prove chance continue begin start likely unlikely certain sure bound about "
    "going set due apt liable supposed used"
)
OBJECT_CONTROL = word_set(
    "persuade convince force compel ask order urge tell advise encourage instruct oblige obligate induce tempt "
    "pressure coax beg command challenge dare invite warn teach train press push remind motivate inspire "
    "influence entice provoke prompt counsel implore bully lure sway pester help assist direct hire recruit "
    "summon"
)
OBJECT_RAISING = word_set(
    "believe expect consider declare judge imagine prove suppose assume presume find report show know understand "
    "acknowledge want need think reveal"
)
# Adjectives whose infinitive has a gap for their subject (`easy to please`: Chomsky 1964; Lasnik and Fiengo 1974), and
# those whose infinitive has none (`eager to please`, `likely to come`).
TOUGH = word_set(
    "easy hard difficult tough impossible simple fun pleasant unpleasant dangerous boring enjoyable painful "
    "awkward annoying convenient inconvenient exciting tedious tiring amusing entertaining interesting"
)
NOT_TOUGH = word_set(
    "likely unlikely certain sure bound about going set due apt liable supposed eager able unable willing "
    "unwilling reluctant anxious keen happy glad afraid determined prepared"
)

# Verbs of belief and speech whose complement is `that` + clause or a question (Grimshaw 1979).
THAT_OR_QUESTION = word_set(
    "know remember forget discover learn notice realize realise see say tell hear find reveal understand explain "
    "remember guess figure recall prove show"
)
MANDATIVE = word_set("suggest demand insist recommend request require propose ask order command desire wish")
BARE_INFINITIVE = word_set("make let have see hear watch help feel bid notice observe")

SUBORDINATORS = word_set("after before while because since when if until although though unless without")

# Nouns of one gender (Quirk et al. 1985, §5.105).
MASCULINE_NOUNS = word_set(
    "man boy gentleman father son brother uncle nephew grandfather grandson king prince duke lord husband widower "
    "bridegroom monk waiter actor host hero policeman fireman businessman salesman congressman guy bachelor "
    "wizard sir stepfather godfather"
)
FEMININE_NOUNS = word_set(
    "woman girl lady mother daughter sister aunt niece grandmother granddaughter queen princess duchess wife "
    "widow bride nun waitress actress hostess heroine policewoman businesswoman saleswoman congresswoman witch "
    "madam maid governess stepmother godmother"
)


EITHER = word_set(
    "jamie lee angel willie terry francis dana leslie jessie robin jackie lynn jan kim kelly shannon marion pat "
    "jo johnnie billie tracy tracey stacy sandy carol ashley lindsey courtney whitney christian"
)
MALE_NAMES = word_set(
    "james john robert michael william david richard charles joseph thomas christopher daniel paul mark donald "
    "george kenneth steven edward brian ronald anthony kevin jason matthew gary timothy jose larry jeffrey frank "
    "scott eric stephen andrew raymond gregory joshua jerry dennis walter patrick peter harold douglas henry carl "
    "arthur ryan roger joe juan jack albert jonathan justin terry gerald keith samuel willie ralph lawrence "
    "nicholas roy benjamin bruce brandon adam harry fred wayne billy steve louis jeremy aaron randy howard eugene "
    "carlos russell bobby victor martin ernest phillip todd jesse craig alan shawn clarence sean philip chris "
    "johnny earl jimmy antonio danny bryan tony luis mike stanley leonard nathan dale manuel rodney curtis norman "
    "allen marvin vincent glenn jeffery travis jeff chad jacob lee melvin alfred kyle francis bradley jesus "
    "herbert frederick ray joel edwin don eddie ricky troy randall barry alexander bernard mario leroy francisco "
    "marcus micheal theodore clifford miguel oscar jay jim tom calvin alex jon ronnie bill lloyd tommy leon derek "
    "warren darrell jerome floyd leo alvin tim wesley gordon dean greg jorge dustin pedro derrick dan lewis "
    "zachary corey herman maurice vernon roberto clyde glen hector shane ricardo sam rick lester brent ramon "
    "charlie tyler gilbert gene marc reginald ruben brett angel nathaniel rafael edgar raul ben chester cecil "
    "duane franklin andre elmer brad gabriel ron mitchell roland arnold harvey jared adrian karl cory claude erik "
    "darryl jamie neil christian javier fernando clinton ted mathew tyrone darren lonnie lance cody julio kurt "
    "allan nelson guy clayton hugh max dwayne dwight armando felix jimmie everett ian wallace ken bob jaime "
    "alfredo alberto dave ivan sidney byron julian isaac morris willard daryl ross andy kirk"
)
FEMALE_NAMES = word_set(
    "mary patricia linda barbara elizabeth jennifer maria susan margaret dorothy lisa nancy karen betty helen "
    "sandra donna carol ruth sharon michelle laura sarah kimberly deborah jessica shirley cynthia angela melissa "
    "brenda amy anna rebecca virginia kathleen pamela martha debra amanda stephanie carolyn christine marie janet "
    "catherine frances ann joyce diane alice julie heather teresa doris gloria evelyn jean cheryl mildred "
    "katherine joan ashley judith rose janice kelly nicole judy christina kathy theresa beverly denise tammy "
    "irene jane lori rachel marilyn andrea kathryn louise sara anne jacqueline wanda bonnie julia ruby lois tina "
    "phyllis norma paula diana annie lillian emily robin peggy crystal gladys rita dawn connie florence tracy "
    "edna tiffany carmen rosa cindy grace wendy victoria edith kim sherry sylvia josephine thelma shannon sheila "
    "ethel ellen elaine marjorie carrie charlotte monica esther pauline emma juanita anita rhonda hazel amber eva "
    "debbie april leslie clara lucille jamie joanne eleanor valerie danielle megan alicia suzanne michele gail "
    "bertha darlene veronica jill erin geraldine lauren cathy joann lorraine lynn sally regina erica beatrice "
    "dolores bernice audrey yvonne annette june samantha marion dana stacy ana renee ida vivian roberta holly "
    "brittany melanie loretta yolanda jeanette laurie katie kristen vanessa alma sue elsie beth jeanne vicki "
    "carla tara rosemary eileen terri gertrude lucy tonya ella stacey wilma gina kristin jessie natalie agnes "
    "vera willie charlene bessie delores melinda pearl arlene maureen colleen allison tamara joy georgia "
    "constance lillie claudia jackie marcia tanya nellie minnie marlene heidi glenda lydia viola courtney marian "
    "stella caroline dora jo vickie mattie terry maxine irma mabel marsha myrtle lena christy deanna patsy hilda "
    "gwendolyn jennie nora margie nina cassandra leah penny kay priscilla naomi carole brandy olga billie dianne "
    "tracey leona jenny felicia sonia miriam velma becky bobbie violet kristina toni misty mae shelly daisy "
    "ramona sherri erika katrina claire lindsey lindsay geneva guadalupe belinda margarita sheryl cora faye ada "
    "natasha sabrina isabel marguerite hattie harriet molly cecilia kristi brandi blanche sandy rosie joanna iris "
    "eunice angie inez lynda madeline amelia alberta genevieve monique jodi janie maggie kayla sonya jan lee "
    "kristine candace fannie maryann opal alison yvette melody luz susie olivia flora shelley kristy mamie lula "
    "lola verna beulah antoinette candice juana jeannette pam kelli hannah whitney bridget karla celia latoya "
    "patty shelia gayle della vicky lynne sheri marianne kara jacquelyn erma blanca myra leticia pat krista "
    "roxanne angelica johnnie robyn francis adrienne rosalie alexandra brooke bethany sadie bernadette traci jody "
    "kendra jasmine nichole rachael chelsea mable ernestine muriel marcella elena krystal angelina nadine kari "
    "estelle dianna paulette lora mona doreen rosemarie angel desiree antonia hope ginger janis betsy christie "
    "freda mercedes meredith lynette teri cristina eula leigh meghan sophia eloise"
)
MASCULINE, FEMININE = (
    tuple(sorted(name.capitalize() for name in names - EITHER - others))
    for names, others in ((MALE_NAMES, FEMALE_NAMES), (FEMALE_NAMES, MALE_NAMES))
)
