"""Frequent given names in the USA, in lower case; the gender of other names is counted in parsed text."""

from rerank_plugins.english.closed_classes import word_set

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
