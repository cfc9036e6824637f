"""Given names that are nearly always a man's or a woman's in English-language film.

Written down by hand; names of both (Alex, Chris, Robin, Sam) are left out: what the text says of somebody
decides there, and overrules the list elsewhere.
"""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


HIS_NAMES = _listed(
    """
    aaron abel abraham adam adrian ahmed aidan aiden alan albert alberto alec alejandro alexander alfie
    alfonso alfred ali alistair allan allen alvin anders andre andreas andrew andy angelo angus anthony
    antonio antony archie arnold art arthur asher atticus augustus austin barney barry bart basil ben
    benjamin benny bernard bernie bert bill billy bob bobby brad bradley brandon brendan brent brett brian
    bruce bruno bryan bud burt buster butch byron caleb calvin carl carlo carlos cary casper cecil cedric
    chad charles charlie chester christian christoph christopher chuck clarence clark claude claudius clay
    clayton clement cliff clifford clint clive clyde cody colin connor conrad craig curtis cyril dan daniel
    danny darren darryl dave david dean dennis denny derek desmond devin diego dieter dimitri dirk dmitri
    dominic don donald donny doug douglas drew duncan dustin dwayne dwight dylan earl ed eddie eddy edgar
    edmund edvard eduardo edward edwin eli elijah elliot elliott elmer elvis emilio emmett enrique enzo eric
    erik ernest ernie ethan eugene evan everett ezra felix ferdinand fergus fernando fletcher floyd
    francesco francis franco francois frank franklin franz fred freddie freddy frederick friedrich fritz
    gareth garrett gary gaspar gavin gene geoff geoffrey georg george gerald gerard gideon gilbert giles
    gino giovanni giuseppe glenn gordie gordon graeme graham grant greg gregory griffin guido guillermo
    gunther gus gustav guy hank hans harold harry harvey hassan hector heinrich heinz henri henrik henry
    herbert herman hernan homer horace howard hubert hugh hugo humphrey ian igor ike ilya irving isaac
    ismael ivan jack jacob jacques jake jamal james jared jasper javier jeff jefferson jeffrey jeremiah
    jeremy jerome jerry jim jimmy jin joe joel joey johan johann john johnny jon jonah jonas jonathan jorge
    jose josef joseph josh joshua juan jude jules julian julio julius jurgen justin karl keith ken kenneth
    kenny kevin kirk klaus klev kurt kyle lance larry lars laurence lawrence lenny leo leon leonard leonato
    leroy lester lewis liam lionel lloyd logan lorenzo lou louis luca lucas luigi luis luke luther mac
    malcolm manfred manny manuel marcel marco marcus mario marius mark marlon marshall martin marty marvin
    mason mathias matt matthew matthias maurice max maxwell melvin michael mick mickey miguel mike mikhail
    miles milo milton mitch mitchell mohamed mohammed mohammad morgan morris mortimer morty moses myron nate
    nathan nathaniel neal ned neil nelson neville nicholas nick nicolas nigel noah noel norman oleg oliver
    omar orlando orson oscar oswald otis otto owen pablo paddy patrick paul pedro percy perry pete peter
    phil philip phillip pierre pip preston quentin quincy rafael ralph ramon randall randy raoul raul ray
    raymond reg reggie reginald rex ricardo richard rick ricky rob robbie robert roberto rod roderick rodney
    rodrigo roger roland roman ron ronald ronnie ronny rory roscoe ross roy rudolf rudy rufus rupert russ
    russell ryan samuel sander santiago saul scott scotty seamus sean sebastian sergei sergio seth seymour
    shane shaun shawn sheldon sherlock sid silas simon solomon spencer stan stanley stefan stephen steve
    steven stewart stu stuart sven sylvester ted teddy terence terrence theo theodore thom thomas tim
    timothy tino toby todd tom tomas tommy tony travis trent trevor tristan troy tyler ulrich ulysses vern
    vernon victor vince vincent vinnie vito vladimir wade waldo wallace wally walt walter warren warwick
    wayne wendell wesley wilbur wilfred will willard william willie willy winston wolfgang woody wyatt
    xavier yuri zach zachary zack zeke biff dickie rocky chucky claudio rolf benedict bernardo adriano
    """
)
HER_NAMES = _listed(
    """
    abby abigail ada adele adrienne agatha agnes aimee alana alexandra alexis alice alicia alison allison
    alma amanda amber amelia amy anastasia andrea angela angelica angelina angie anita ann anna annabel anne
    annette annie annika antonia april ariana ariel arlene astrid audrey aurora ava barbara beatrice becky
    bella bernadette bernice bertha bess bessie bessy beth bethany betsy bettina betty beverly bianca birdy
    bonnie brenda bridget brigitta brigitte britney brittany brooke caitlin calpurnia camilla candace
    candice cara carine carla carlotta carmen carol carole caroline carolyn carrie cassandra cassie
    catherine cathy cecilia celeste celia celine charlene charlotte chelsea cheryl chloe christina christine
    cindy claire clara clarice clarissa claudia cleopatra colette colleen connie constance cora cordelia
    corinne courtney cynthia daisy daphne darlene deanna deb debbie deborah debra deirdre delia delilah
    denise desdemona diana diane dina dolores donna dora doreen doris dorie dorothy edie edith edna eileen
    elaine eleanor elena elinor elisa elisabeth elise eliza elizabeth ella ellen ellie eloise elsa elsie
    emily emma emmy erica erin esmeralda esther ethel etta eugenia eunice eva eve evelyn faith fanny fatima
    fay felicia fiona flora florence fran frances francesca freda freya frieda gabriella gabrielle gail
    gemma genevieve georgia georgina geraldine gertrude gina ginny giselle gladys glenda gloria goldie grace
    greta gretchen guinevere gwen gwendolyn hannah harriet hattie heather heidi helen helena helga henrietta
    hermione hilary hilda holly ida ilenka ilsa imogen ingrid irene iris isabel isabella isabelle ivy
    jacqueline jane janet janey janice janine jasmine jean jeanette jeanne jemima jen jenna jennie jennifer
    jenny jeryline jessica jill joan joanna joanne jocelyn jodi josephine josie joyce juanita judith judy
    julia juliana julianne julie juliet juliette june kara karen kate katharine katherine kathleen kathryn
    kathy katie katrina katy kayla keira kelly kerry kitty kristen kristi kristin kristina lana lara laura
    lauren laurie lavinia leah leila lena lenore liesl lila lillian lily linda lindsay lindsey lisa liv liz
    liza lizzie lois lola loretta lori lorraine louisa louise lucia lucille lucinda lucy lulu lydia mabel
    madeleine madeline madge madison maggie mandy mara marcia margaret margarita marge margery margie margo
    margot maria marian marianne marie marilyn marina marjorie marla marlene marsha martha martina martine
    mary matilda mathilda maud maude maudie maureen maxine mayella megan melanie melina melinda melissa
    mercedes meredith mia michelle mildred millicent millie mimi mina minnie miranda miriam moira molly mona
    monica monique muriel myra myrtle nadia nadine nancy naomi natalia natalie natasha nedda nell nellie
    nicole nina nora norah noreen norma octavia odette olga olive olivia opal ophelia pam pamela pandora
    patricia patsy patti patty paula pauline pearl peggy penelope penny petra petunia philippa phoebe
    phyllis polly portia priscilla prudence prunella queenie rachel ramona raquel rebecca regina renata
    renee rhoda rhonda rita roberta rosa rosalie rosalind rosanne rose roseanne rosemary rosie rosita
    roxanne ruby ruth sabrina sadie sally samantha sandra sara sarah savannah scarlett selena selma serena
    shannon sharon sheila shelby shirley sienna sigrid simone sofia sonia sonya sophia sophie stacey stacy
    stella stephanie sue susan susanna susanne susie suzanne suzy svetlana sybil sylvia sylvie tabitha
    tamara tammy tanya tara teresa tess tessa thelma theresa tiffany tilda tina toni traci tracy trish
    trixie trudy una ursula valentina valerie vanessa velma vera veronica vickie vicky victoria viola violet
    virginia vivian vivien vivienne wanda wendy whitney wilhelmina wilma winifred winona yolanda yvette
    yvonne zelda zoe zsa may gretel leisel
    """
)
GIVEN_NAMES = HIS_NAMES | HER_NAMES


def listed_as(name: str) -> str:
    """What a given name says.

    >>> listed_as("margot"), listed_as("tony"), listed_as("alex")
    ('she', 'he', '')
    """
    return "he" if name in HIS_NAMES else "she" if name in HER_NAMES else ""
