// The lists of Jacques Savoy, University of Neuchatel (BSD licence), as far as Cassandra reads them: sorted
// by bytes, with one space between words. Damaged words of its files, which never match, are left out.
#include "plan/indexes/stop_words.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace sibyl::plan {

namespace {

constexpr std::string_view arabic_stop_words =
    "، أ ا اثر اجل احد اخرى اذا اربعة اطار اعادة اعلنت اف "
    "اكثر اكد الا الاخيرة الان الاول الاولى التى التي "
    "الثاني الثانية الذاتي الذى الذي الذين السابق الف "
    "الماضي المقبل الوقت الى اليوم اما امام امس ان انه انها "
    "او اول اي ايار ايام ايضا ب باسم بان برس بسبب بشكل بعد "
    "بعض بن به بها بين تم ثلاثة ثم جميع حاليا حتى حوالى حول "
    "حيث حين خلال دون ذلك زيارة سنة سنوات شخصا صباح صفر ضد "
    "ضمن عام عاما عدة عدد عدم عشر عشرة على عليه عليها عن عند "
    "عندما غدا غير ـ ف فان فى في فيه فيها قال قبل قد قوة كان "
    "كانت كل كلم كما لا لدى لقاء لكن للامم لم لن له لها "
    "لوكالة ما مايو مساء مع مقابل مليار مليون من منذ منها "
    "نحو نفسه نهاية هذا هذه هناك هو هي و و6 واحد واضاف واضافت "
    "واكد وان واوضح وفي وقال وقالت وقد وقف وكان وكانت ولا "
    "ولم ومن وهو وهي يكون يمكن يوم";

constexpr std::string_view bulgarian_stop_words =
    "а автентичен аз ако ала бе без беше би бивш бивша бившо "
    "бил била били било благодаря близо бъдат бъде бяха в "
    "вас ваш ваша вероятно вече взема ви вие винаги внимава "
    "време все всеки всички всичко всяка във въпреки върху "
    "г ги главен главна главно глас го година години "
    "годишен д да дали два двама двамата две двете ден днес "
    "дни до добра добре добро добър докато докога дори "
    "досега доста друг друга други е евтин едва един една "
    "еднаква еднакви еднакъв едно екип ето живот за забавям "
    "зад заедно заради засега заспал затова защо защото и "
    "из или им има имат иска й каза как каква какво както "
    "какъв като кога когато което които кой който колко "
    "която къде където към лесен лесно ли лош м май малко ме "
    "между мек мен месец ми много мнозина мога могат може "
    "мокър моля момента му н на над назад най направи напред "
    "например нас не него нещо нея ни ние никой нито нищо но "
    "нов нова нови новина някои някой няколко няма обаче "
    "около освен особено от отгоре отново още пак по повече "
    "повечето под поне поради после почти прави пред преди "
    "през при пък първата първи първо пъти равен равна с са "
    "сам само се сега си син скоро след следващ сме смях "
    "според сред срещу сте съм със също т т.н. тази така "
    "такива такъв там твой те тези ти то това тогава този "
    "той толкова точно три трябва тук тъй тя тях у утре "
    "харесва хиляди ч часа че често чрез ще щом юмрук я як";

constexpr std::string_view czech_stop_words =
    "ahoj ale anebo ano asi aspoň ačkoli bez beze blízko bohužel brzo bude budeme budete budeš budou "
    "budu byl byla byli bylo byly bys během chce chceme chcete chceš chci chtít chtějí chut' chuti "
    "co daleko den deset devatenáct devět do dobrý docela dva dvacet dvanáct dvě dál dále děkovat "
    "děkujeme děkuji hodně jak jde je jeden jedenáct jedna jedno jednou jedou jeho jejich její jemu "
    "jen jenom jestli jestliže ještě jich jimi jinak jsem jsi jsme jsou jste já jí jím kam kde kdo "
    "kdy když ke kolik kromě která které který kteří kvůli mají mezi mnou mně moc mohl mohou "
    "moje moji možná musí my má málo mám máme máte máš mé mí mít mě můj může na nad nade "
    "naproti naše naši ne nebo nebyl nebyla nebyli nebyly nedělají nedělá nedělám neděláme "
    "neděláte neděláš nejsi nemají nemáme nemáte neměl není nestačí nevadí než nic nich "
    "nimi nula nám námi nás náš ním ně něco nějak někde někdo němu od ode on ona oni ono ony "
    "osm osmnáct pak patnáct po potom pozdě pořád pro prostě prosím proti protože proč pět "
    "před přes přese rovně se sedm sedmnáct skoro smí smějí snad spolu sta sto sté ta tady tak "
    "takhle taky tam tamhle tamhleto tamto tebe tebou ted' tedy ten ti tisíc tisíce to tobě tohle toto "
    "trošku tvoje tvá tvé tvůj ty tě třeba tři třináct určitě už vaše vaši ve vedle večer "
    "vlastně vy vám vámi vás váš všechno všichni vůbec vždy za zatímco zač ze čau čtrnáct "
    "čtyři šest šestnáct že";

constexpr std::string_view german_stop_words =
    "Ernst Ordnung Schluss a ab aber ach acht achte achten achter achtes ag alle allein allem allen aller "
    "allerdings alles allgemeinen als also am an andere anderen andern anders au auch auf aus ausser "
    "ausserdem b bald bei beide beiden beim beispiel bekannt bereits besonders besser besten bin bis "
    "bisher bist c d d.h da dabei dadurch dagegen daher dahin dahinter damals damit danach daneben dank "
    "dann daran darauf daraus darf darfst darin darum darunter das dasein daselbst dass dasselbe davon "
    "davor dazu dazwischen dein deine deinem deiner dem dementsprechend demselben demzufolge den denen "
    "denn denselben der deren derjenige derjenigen dermassen derselbe derselben des deshalb desselben "
    "dessen deswegen dich die diejenige diejenigen dies diese dieselbe dieselben diesem diesen dieser "
    "dieses dir doch dort drei drin dritte dritten dritter drittes du durch durchaus durfte durften e "
    "eben ebenso ehrlich ei ei, eigen eigene eigenen eigener eigenes ein einander eine einem einen einer "
    "eines einige einigen einiger einiges einmal eins elf en ende endlich entweder er erst erste ersten "
    "erster erstes es etwa etwas euch f g gab ganz ganze ganzen ganzer ganzes gar gedurft gegen gehabt "
    "gehen geht gekannt gekonnt gemacht gemocht gemusst genug gerade gern gesagt geschweige gewesen "
    "gewollt geworden gibt ging gleich gott gross grosse grossen grosser grosses gut gute guter gutes h "
    "habe haben habt hast hat hatte hatten heisst her heute hier hin hinter hoch i ich ihm ihn ihnen ihr "
    "ihre ihrem ihren ihrer ihres im immer in indem infolgedessen ins irgend ist j ja jahr jahre jahren "
    "je jede jedem jeden jeder jedermann jedermanns jedoch jemand jemandem jemanden jene jenem jenen "
    "jener jenes jetzt k kam kann kannst kaum kein keine keinem keinen keiner kleine kleinen kleiner "
    "kleines kommen kommt konnte konnten kurz l lang lange leicht leide lieber los m machen macht machte "
    "mag magst mahn man manche manchem manchen mancher manches mann mehr mein meine meinem meinen meiner "
    "meines mensch menschen mich mir mit mittel mochte mochten morgen muss musst musste mussten n na nach "
    "nachdem nahm neben nein neue neuen neun neunte neunten neunter neuntes nicht nichts nie niemand "
    "niemandem niemanden noch nun nur o ob oben oder offen oft ohne p q r recht rechte rechten rechter "
    "rechtes richtig rund s sa sache sagt sagte sah satt schlecht schon sechs sechste sechsten sechster "
    "sechstes sehr sei seid seien sein seine seinem seinen seiner seines seit seitdem selbst sich sie "
    "sieben siebente siebenten siebenter siebentes sind so solang solche solchem solchen solcher solches "
    "soll sollen sollte sollten sondern sonst sowie statt t tag tage tagen tat teil tel tritt trotzdem "
    "tun u uhr um und und? uns unser unsere unserer unter v vergangenen viel viele vielem vielen "
    "vielleicht vier vierte vierten vierter viertes vom von vor w wahr? wann war waren wart warum was "
    "wegen weil weit weiter weitere weiteren weiteres welche welchem welchen welcher welches wem wen "
    "wenig wenige weniger weniges wenigstens wenn wer werde werden werdet wessen wie wieder will willst "
    "wir wird wirklich wirst wo wohl wollen wollt wollte wollten worden wurde wurden x y z z.b zehn "
    "zehnte zehnten zehnter zehntes zeit zu zuerst zugleich zum zur zusammen zwanzig zwar zwei zweite "
    "zweiten zweiter zweites zwischen";

constexpr std::string_view english_stop_words =
    "a a's able about above according accordingly across actually after afterwards again against ain't "
    "all allow allows almost alone along already also although always am among amongst an and another any "
    "anybody anyhow anyone anything anyway anyways anywhere apart appear appreciate appropriate are "
    "aren't around as aside ask asking associated at available away awfully b be became because become "
    "becomes becoming been before beforehand behind being believe below beside besides best better "
    "between beyond both brief but by c c'mon c's came can can't cannot cant cause causes certain "
    "certainly changes clearly co com come comes concerning consequently consider considering contain "
    "containing contains corresponding could couldn't course currently d definitely described despite did "
    "didn't different do does doesn't doing don't done down downwards during e each edu eg eight either "
    "else elsewhere enough entirely especially et etc even ever every everybody everyone everything "
    "everywhere ex exactly example except f far few fifth first five followed following follows for "
    "former formerly forth four from further furthermore g get gets getting given gives go goes going "
    "gone got gotten greetings h had hadn't happens hardly has hasn't have haven't having he he's hello "
    "help hence her here here's hereafter hereby herein hereupon hers herself hi him himself his hither "
    "hopefully how howbeit however i i'd i'll i'm i've ie if ignored immediate in inasmuch inc indeed "
    "indicate indicated indicates inner insofar instead into inward is isn't it it'd it'll it's its "
    "itself j just k keep keeps kept know known knows l last lately later latter latterly least less lest "
    "let let's like liked likely little look looking looks ltd m mainly many may maybe me mean meanwhile "
    "merely might more moreover most mostly much must my myself n name namely nd near nearly necessary "
    "need needs neither never nevertheless new next nine no nobody non none noone nor normally not "
    "nothing novel now nowhere o obviously of off often oh ok okay old on once one ones only onto or "
    "other others otherwise ought our ours ourselves out outside over overall own p particular "
    "particularly per perhaps placed please plus possible presumably probably provides q que quite qv r "
    "rather rd re really reasonably regarding regardless regards relatively respectively right s said "
    "same saw say saying says second secondly see seeing seem seemed seeming seems seen self selves "
    "sensible sent serious seriously seven several shall she should shouldn't since six so some somebody "
    "somehow someone something sometime sometimes somewhat somewhere soon sorry specified specify "
    "specifying still sub such sup sure t t's take taken tell tends th than thank thanks thanx that "
    "that's thats the their theirs them themselves then thence there there's thereafter thereby therefore "
    "therein theres thereupon these they they'd they'll they're they've think third this thorough "
    "thoroughly those though three through throughout thru thus to together too took toward towards tried "
    "tries truly try trying twice two u un under unfortunately unless unlikely until unto up upon us use "
    "used useful uses using usually uucp v value various very via viz vs w want wants was wasn't way we "
    "we'd we'll we're we've welcome well went were weren't what what's whatever when whence whenever "
    "where where's whereafter whereas whereby wherein whereupon wherever whether which while whither who "
    "who's whoever whole whom whose why will willing wish with within without won't wonder would wouldn't "
    "x y yes yet you you'd you'll you're you've your yours yourself yourselves z zero";

constexpr std::string_view spanish_stop_words =
    "a acuerdo adelante ademas adrede ahi ahora al alli alrededor antano ante antes apenas "
    "aproximadamente aquel aquella aquellas aquello aquellos aqui arribaabajo asi aun aunque b bajo "
    "bastante bien breve c casi cerca claro como con conmigo contigo contra cual cuales cuando cuanta "
    "cuantas cuanto cuantos d de debajo del delante demasiado dentro deprisa desde despacio despues "
    "detras dia dias donde dos durante e el ella ellas ellos en encima enfrente enseguida entre es esa "
    "esas ese eso esos esta estado estados estan estar estas este esto estos ex excepto f final fue fuera "
    "fueron g general gran h ha habia habla hablan hace hacia han hasta hay horas hoy i incluso informo j "
    "junto k l la lado las le lejos lo los luego m mal mas mayor me medio mejor menos menudo mi mia mias "
    "mientras mio mios mis mismo mucho muy n nada nadie ninguna no nos nosotras nosotros nuestra nuestras "
    "nuestro nuestros nueva nuevo nunca o os otra otros p pais para parte pasado peor pero poco por "
    "porque pronto proximo puede q qeu que quien quienes quiza quizas r raras repente s salvo se segun "
    "ser sera si sido siempre sin sobre solamente solo son soyos su supuesto sus suya suyas suyo t tal "
    "tambien tampoco tarde te temprano ti tiene todavia todo todos tras tu tus tuya tuyas tuyo tuyos u un "
    "una unas uno unos usted ustedes v veces vez vosotras vosotros vuestra vuestras vuestro vuestros w x "
    "y ya yo z";

constexpr std::string_view finnish_stop_words =
    "aiemmin aika aikaa aikaan aikaisemmin aikaisin aikajen aikana aikoina aikoo aikovat aina ainakaan "
    "ainakin ainoa ainoat aiomme aion aiotte aist aivan ajan alas alemmas alkuisin alkuun alla alle "
    "aloitamme aloitan aloitat aloitatte aloitattivat aloitettava aloitettevaksi aloitettu aloitimme "
    "aloitin aloitit aloititte aloittaa aloittamatta aloitti aloittivat alta aluksi alussa alusta "
    "annettavaksi annetteva annettu antaa antamatta antoi aoua apu asia asiaa asian asiasta asiat "
    "asioiden asioihin asioita asti avuksi avulla avun avutta edelle edelleen edes ei eilen eli ellei "
    "ellemme ellen ellet ellette emme en eniten ennen ensi ensin entinen entisen entisten eri erityisesti "
    "esi esiin esimerkiksi et eteen etenkin ette ettei halua haluaa haluamatta haluamme haluan haluat "
    "haluatte haluavat halunnut halusi halusimme halusin halusit halusitte halusivat halutessa haluton he "
    "hei heihin heille helposti heti hieman huolimatta huomenna hyvien hyviin hyviksi hyville hyvin ihan "
    "ilman ilmeisesti itse ja jo johon joiden joihin joiksi joilla joille joilta joissa joista joita joka "
    "jokainen jokin joko joku jolla jolle jolloin jolta jompikumpi jonka jonkin jonne joo jopa jos joskus "
    "jossa josta jota jotain joten jotenkin jotenkuten jotka jotta jouduimme jouduin jouduit jouduitte "
    "joudumme joudun joudutte joukkoon joukossa joukosta joutua joutui joutuivat joutumaan joutuu "
    "joutuvat juuri kahdeksan kahdeksannen kahdella kahdelle kahdelta kahden kahdessa kahdesta kahta "
    "kahteen kai kaiken kaikille kaikilta kaikkea kaikki kaikkia kaikkiaan kaikkialla kaikkialle "
    "kaikkialta kaikkien kaikkin kaksi kannalta kannattaa kanssa kanssaan kanssamme kanssani kanssanne "
    "kanssasi kauan kauemmas kautta kehen keiden keihin keiksi keille keitten keneen keneksi kenelle "
    "kenen kenet kerran kerta kertaa kesken kiitos kohti koko kokonaan kolmas kolme kolmen kolmesti koska "
    "koskaan kovin kuin kuinka kuitenkaan kuitenkin kuka kukaan kukin kumpainen kumpainenkaan kumpi "
    "kumpikaan kumpikin kun kuten kuuden kuusi kuutta kymmenen kyse liian liki luo mahdollisimman "
    "mahdollista me meille melkein melko menee meneet menemme menen menet menette meni menimme menin "
    "menit mennyt menossa mihin mikin miksi milloin minne minun minut miten moi molemmat mones monesti "
    "monet moni moniaalla moniaalle moniaalta monta muassa muiden muita muka mukaan mukaansa mukana mutta "
    "muu muualla muualle muualta muuanne muulloin muun muut muuta muutama muutaman muuten ne niiden niin "
    "noin nopeammin nopeasti nopeiten nro nuo nyt ohi oikein ole olemme olen olet olette oleva olevan "
    "olevat oli olimme olin olisi olisimme olisin olisit olisitte olisivat olit olitte olivat olla olleet "
    "olli ollut oma omaa omaan omaksi omalle omalta oman omassa omat omia omien omiin omiksi omille "
    "omilta omissa omista on onkin onko ovat paikoittain paitsi pakosti paljon paremmin parempi "
    "parhaillaan parhaiten perusteella pian pieneen pieneksi pienelle pienempi pieni pienin puolesta "
    "puolestaan runsaasti saakka sadam sama samaa samaan samalla samallalta samallassa samallasta saman "
    "samat samoin sata sataa satojen se sen seuraavat siihen siis sijaan siksi silloin silti sinne sinua "
    "sinulle sinulta sinun sinussa sinusta sinut siten sitten suoraan suuntaan suuren suuret suuri suuria "
    "suurin suurten taa taas taemmas tahansa tai takaa takaisin takana takia tapauksessa tavalla "
    "tavoitteena te tietysti todella toinen toisaalla toisaalle toisaalta toiseen toiseksi toisella "
    "toiselle toiselta toisemme toisen toisensa toisessa toisesta toista toistaiseksi toki tosin tuhannen "
    "tuhat tule tulee tulemme tulen tulet tulette tulevat tulimme tulin tulisi tulisimme tulisin tulisit "
    "tulisitte tulisivat tulit tulitte tulivat tulla tulleet tullut tuntuu tuo tuolla tuolloin tuolta "
    "tuonne tuskin usea useasti useimmiten usein useita uudeksi uudelleen uuden uudet uusi uusia uusien "
    "uusinta uuteen uutta vaan vai vaiheessa vaikea vaikean vaikeat vaikeilla vaikeille vaikeilta "
    "vaikeissa vaikeista vaikka vain varmasti varsin varsinkin varten vasta vastaan vastakkain verran "
    "vieri viiden viime viimeinen viimeisen viimeksi viisi voi voidaan voimme voin voisi voit voitte "
    "voivat vuoden vuoksi vuosi vuosien vuosina vuotta yhden yhteen yhteyteen yksi yksin yli";

constexpr std::string_view french_stop_words =
    "a abord afin ah ai aie ainsi allaient allo allons assez attendu au aucun aucune aujourd aujourd'hui "
    "auquel aura auront aussi autre autres aux auxquelles auxquels avaient avais avait avant avec avoir "
    "ayant b bah beaucoup bien bigre boum bravo brrr c car ce ceci cela celle celle-ci celles celles-ci "
    "celui celui-ci cent cependant certain certaine certaines certains certes ces cet cette ceux ceux-ci "
    "chacun chaque cher chers chez chiche chut ci cinq cinquantaine cinquante clac clic combien comme "
    "comment compris concernant contre couic crac d da dans de debout dedans dehors depuis des desquelles "
    "desquels dessous dessus deux devant devers devra dire divers diverse diverses dix dix-huit dix-neuf "
    "dix-sept doit doivent donc dont douze dring du duquel durant e effet eh elle elles en encore entre "
    "envers environ es est et etant etc etre eu euh eux f fais faisaient faisant fait feront fi flac floc "
    "font g gens h ha hein hem hep hi ho hop hormis hors hou houp hue hui huit hum hurrah i il ils "
    "importe j je jusqu jusque k l la laquelle las le lequel les lesquelles lesquels leur leurs longtemps "
    "lorsque lui m ma maint mais me merci mes mien mienne miennes miens mille mince moi moins mon "
    "moyennant n na ne neuf ni nombreuses nombreux non nos notre nous nul o oh on ont onze ore ou ouf "
    "ouias oust ouste outre o| p paf pan par parmi partant particulier pas pendant personne peu peut "
    "peuvent peux pff pfft pfut pif plein plouf plus plusieurs pouah pour pourquoi premier proche psitt "
    "puisque q qu quand quant quanta quarante quatorze quatre quatre-vingt que quel quelconque quelle "
    "quelles quelqu'un quelque quelques quels qui quiconque quinze quoi quoique r revoici rien s sa "
    "sacrebleu sans sapristi sauf se seize selon sept sera seront ses si sien sienne siennes siens sinon "
    "six soi soit soixante son sont sous stop suis suivant sur surtout t ta tac tant te tel telle "
    "tellement telles tels tenant tes tic tien tienne tiennes tiens toc toi ton touchant toujours tous "
    "tout toute toutes treize trente trois trop tsoin tsouin tu u un une unes uns v va vais vas vers via "
    "vif vifs vingt vivat vive vives vlan voici vont vos votre vous vu w x y z zut";

constexpr std::string_view hindi_stop_words =
    "अंदर अत अपना अपनी अपने अभी आप इत्यादि "
    "इन इनका इन्हीं इन्हें इन्हों इस इसका "
    "इसकी इसके इसमें इसी इसे उन उनका उनकी "
    "उनके उनको उन्हीं उन्हें उन्हों उस "
    "उसके उसी उसे एक एवं एस ऐसे और कर करता "
    "करते करना करने करें कहते कहा का काफ़ी "
    "कि कितना किन्हें किन्हों किया किर किस "
    "किसी किसे कुछ कुल को कोई कौन कौनसा गया "
    "घर जब जहाँ जा जितना जिन जिन्हें "
    "जिन्हों जिस जिसे जीधर जैसा जैसे जो तक "
    "तब तरह तिन तिन्हें तिन्हों तिस तिसे तो "
    "था थी थे दबारा दिया दुसरा दूसरे दो "
    "द्वारा न नहीं ना निहायत नीचे ने पर "
    "पहले पूरा पे फिर बनी बही बहुत बाद बाला "
    "बिलकुल भी भीतर मगर मानो मे यदि यह यहाँ "
    "यही या यिह ये रखें रहा रहे ऱ्वासा लिए "
    "लिये लेकिन व वर्ग वह वहाँ वहीं वाले "
    "वुह वे वग़ैरह संग सकता सकते सबसे सभी "
    "साथ साबुत साभ सारा से सो ही हुआ हुई हुए "
    "हैं हो होता होती होते होना होने ﻿के";

constexpr std::string_view hungarian_stop_words =
    "a abba abban abból addig ahhoz ahol aki akik akkor akár alapján alatt alatta alattad alattam "
    "alattatok alattuk alattunk alá alád alájuk alám alánk alátok alól alóla alólad alólam "
    "alólatok alóluk alólunk amely amelybol amelyek amelyekben amelyeket amelyet amelyik amelynek ami "
    "amikor amit amott amíg annak annál arra arról attól az aznap azok azokat azokba azokban azokból "
    "azokhoz azokig azokkal azokká azoknak azoknál azokon azokra azokról azoktól azokért azon "
    "azonban azonnal azt aztán azzal azzá azért bal balra ban be belé beléd beléjük belém belénk "
    "belétek belül belőle belőled belőlem belőletek belőlük belőlünk ben benne benned bennem "
    "bennetek bennük bennünk bár bárcsak bármilyen búcsú csak csakhogy csupán de dehogy ebbe "
    "ebben ebből eddig egy egyebek egyebet egyedül egyelőre egyet egyik egymás egyre egyszerre egyéb "
    "együtt egész egészen ehhez el eleinte ellen ellenes elleni ellenére elmondta első elsők "
    "elsősorban elsőt elé eléd elég eléjük elém elénk elétek előbb elől előle előled "
    "előlem előletek előlük előlünk először előtt előtte előtted előttem előttetek előttük "
    "előttünk előző engem ennek ennyi ennél enyém erre erről esetben ettől ez ezek ezekbe ezekben "
    "ezekből ezeken ezeket ezekhez ezekig ezekkel ezekké ezeknek ezeknél ezekre ezekről ezektől "
    "ezekért ezen ezentúl ezer ezret ezt ezután ezzel ezzé ezért fel fele felek felet felett felé "
    "fent fenti fél fölé gyakran ha halló hamar hanem harmadik harmadikat harminc hat hatodik "
    "hatodikat hatot hatvan helyett hetedik hetediket hetet hetven hirtelen hiszen hiába hogy hol holnap "
    "holnapot honnan hova hozzá hozzád hozzájuk hozzám hozzánk hozzátok hurrá huszadik hány "
    "hányszor hármat három hát hátha hátulsó hét húsz ide-оda idén igazán igen illetve ilyen "
    "immár inkább is ismét itt jelenleg jobban jobbra jó jól jólesik jóval jövőre kell kellene "
    "kellett kelljen ketten kettő kettőt kevés ki kiben kiből kicsit kicsoda kihez kik kikbe kikben "
    "kikből kiken kiket kikhez kikkel kikké kiknek kiknél kikre kikről kiktől kikért kilenc "
    "kilencedik kilencediket kilencet kilencven kin kinek kinél kire kiről kit kitől kivel kivé kié "
    "kiért korábban képest kérem kérlek kész késő később későn két kétszer körül "
    "köszönhetően köszönöm közben közel közepesen közepén közé között közül külön "
    "különben különböző különbözőbb különbözőek lassan le legalább legyen lehet lehetetlen "
    "lehetőleg lehetőség lenne lennék lennének lesz leszek lesznek leszünk lett lettek lettem "
    "lettünk lévő ma maga magad magam magatokat magukat magunkat magát mai majd majdnem manapság meg "
    "megcsinál megcsinálnak megint megvan mellett mellette melletted mellettem mellettetek mellettük "
    "mellettünk mellé melléd melléjük mellém mellénk mellétek mellől mellőle mellőled "
    "mellőlem mellőletek mellőlük mellőlünk melyik mennyi mert mi miatt miatta miattad miattam "
    "miattatok miattuk miattunk mibe miben miből mihez mik mikbe mikben mikből miken miket mikhez "
    "mikkel mikké miknek miknél mikor mikre mikről miktől mikért milyen min mind mindegyik "
    "mindegyiket minden mindenesetre mindenki mindent mindenütt mindig mindketten minek minket mint "
    "minél mire miről mit mitől mivel mivé miért mondta most mostanáig már más másik másikat "
    "másnap második másodszor mások másokat mást még mégis míg mögé mögéd mögéjük mögém "
    "mögénk mögétek mögött mögötte mögötted mögöttem mögöttetek mögöttük mögöttünk "
    "mögül mögüle mögüled mögülem mögületek mögülük mögülünk múltkor múlva na nagyon "
    "naponta napot ne negyedik negyediket negyven neked nekem neki nekik nektek nekünk nem nemcsak "
    "nemrég nincs nyolc nyolcadik nyolcadikat nyolcat nyolcvan nála nálad nálam nálatok náluk "
    "nálunk négy négyet néha néhány nélkül olyan onnan ott pedig persze pár például rajta "
    "rajtad rajtam rajtatok rajtuk rajtunk rendben rosszul rá rád rájuk rám ránk rátok régen "
    "régóta részére róla rólad rólam rólatok róluk rólunk rögtön se sem semmi semmilyen "
    "semmiség senki soha sok sokan sokszor sokáig során stb. szemben szerbusz szerint szerinte "
    "szerinted szerintem szerintetek szerintük szerintünk szervusz szinte számára száz századik "
    "százat szépen szíves szívesen szíveskedjék sőt talán tavaly te tegnap tegnapelőtt tehát "
    "tele tessék ti tied titeket tizedik tizediket tizenegy tizenegyedik tizenhat tizenhárom tizenhét "
    "tizenkettedik tizenkettő tizenkilenc tizenkét tizennyolc tizennégy tizenöt tizet tovább "
    "további távol téged tényleg tíz több többi többször túl tőle tőled tőlem tőletek "
    "tőlük tőlünk ugyanakkor ugyanez ugyanis ugye urak uram urat utoljára utolsó után vagy vagyis "
    "vagyok vagytok vagyunk vajon valahol valaki valakit valamelyik valami valamint van vannak vele veled "
    "velem veletek velük velünk viszlát viszont viszontlátásra volna volnának volnék volt voltak "
    "voltam voltunk végre végén végül által általában ám át éljen én érte érted értem "
    "értetek értük értünk és év évben éve évek éves évi évvel így óta ön önbe önben "
    "önből önhöz önnek önnel önnél önre önről önt öntől önért önök önökbe önökben "
    "önökből önöket önökhöz önökkel önöknek önöknél önökre önökről önöktől "
    "önökért önökön önön öt ötven ötödik ötödiket ötöt úgy úgyis úgynevezett újra úr "
    "ő ők őket őt";

constexpr std::string_view italian_stop_words =
    "a abbastanza accidenti ad adesso affinche agli ahime ahimè ai al alcuna alcuni alcuno all alla alle "
    "allo altri altrimenti altro altrui anche ancora anni anno ansa assai attesa avanti avendo avente "
    "aver avere avete aveva avuta avute avuti avuto basta bene benissimo berlusconi brava bravo c casa "
    "caso cento certa certe certi certo che chi chicchessia chiunque ci ciascuna ciascuno cima cio cioe "
    "cioè circa citta città ciò codesta codesti codesto cogli coi col colei coll coloro colui come con "
    "concernente consiglio contro cortesia cos cosa cosi così cui d da dagli dai dal dall dalla dalle "
    "dallo davanti degli dei del dell della delle dello dentro detto deve di dice dietro dire dirimpetto "
    "dopo dove dovra dovrà due dunque durante e ecco ed egli ella eppure era erano esse essendo esser "
    "essere essi ex fa fare fatto favore fin finalmente finche fine fino forse fra fuori gia giacche "
    "giorni giorno già gli gliela gliele glieli glielo gliene governo grande grazie gruppo ha hai hanno "
    "ho i ieri il improvviso in infatti insieme intanto intorno invece io l la lavoro le lei li lo "
    "lontano loro lui lungo là ma macche magari mai male malgrado malissimo me medesimo mediante meglio "
    "meno mentre mesi mezzo mi mia mie miei mila miliardi milioni ministro mio moltissimo molto mondo "
    "nazionale ne negli nei nel nell nella nelle nello nemmeno neppure nessuna nessuno niente no noi non "
    "nondimeno nostra nostre nostri nostro nulla nuovo o od oggi ogni ognuna ognuno oltre oppure ora ore "
    "osi ossia paese parecchi parecchie parecchio parte partendo peccato peggio per perche perchè percio "
    "perciò perfino pero persone però piedi pieno piglia piu più po pochissimo poco poi poiche press "
    "prima primo proprio puo pure purtroppo può qualche qualcuna qualcuno quale quali qualunque quando "
    "quanta quante quanti quanto quantunque quasi quattro quel quella quelli quello quest questa queste "
    "questi questo qui quindi riecco salvo sara sarebbe sarà scopo scorso se secondo seguente sei sempre "
    "senza si sia siamo siete solito solo sono sopra sotto sta staranno stata state stati stato stesso su "
    "sua successivo sue sugli sui sul sull sulla sulle sullo suo suoi tale talvolta tanto te tempo ti "
    "torino tra tranne tre troppo tu tua tue tuo tuoi tutta tuttavia tutte tutti tutto uguali un una uno "
    "uomo va vale varia varie vario verso vi via vicino visto vita voi volta vostra vostre vostri vostro "
    "è";

constexpr std::string_view polish_stop_words =
    "ach aj albo bardzo bez bo być ci ciebie cię co czy daleko dla dlaczego dlatego do dobrze dokąd "
    "dość dużo dwa dwaj dwie dwoje dzisiaj dziś gdyby gdzie go ich ile im inny ja jak jakby jaki je "
    "jeden jedna jedno jego jej jemu jest jestem jeśli jeżeli już ją każdy kiedy kierunku kto ku lub "
    "ma mają mam mi mnie mną moi moja moje może mu my mój na nam nami nas nasi nasz nasza nasze "
    "natychmiast nic nich nie niego niej niemu nigdy nim nimi nią niż obok od około on ona one oni ono "
    "owszem po pod ponieważ przed przedtem sam sama się skąd są tak taki tam ten to tobie tobą tu "
    "tutaj twoi twoja twoje twój ty wam wami was wasi wasz wasza wasze we więc wszystko wtedy wy zawsze "
    "żaden że";

constexpr std::string_view portuguese_stop_words =
    "a adeus agora ainda algo algumas alguns ali ano anos antes ao aos apenas apoio aquela aquelas aquele "
    "aqueles aqui aquilo as assim baixo bastante bem bom breve cada catorze cedo cento certamente certeza "
    "cima cinco coisa com como conselho contra custa da daquela daquele dar das de debaixo demais dentro "
    "depois desde dessa desse desta deste deve dez dezanove dezasseis dezassete dezoito dia diante diz "
    "dizem dizer do dois dos doze duas e ela elas ele eles em embora entre era essa essas esse esses esta "
    "estar estas estava este estes esteve estive estivemos estiveram estiveste estivestes estou eu "
    "exemplo falta favor faz fazeis fazem fazemos fazer fazes fez fim final foi fomos for foram forma "
    "foste fostes fui geral grande grandes grupo hoje horas isso isto lado local logo longe lugar maior "
    "maioria mais mal mas me meio menor menos meses meu meus mil minha minhas momento muito muitos na "
    "nada naquela naquele nas nem nenhuma nessa nesse nesta neste no noite nome nos nossa nossas nosso "
    "nossos nova nove novo novos num numa nunca o obra obrigada obrigado oitava oitavo oito onde ontem "
    "onze os ou outra outras outro outros para parece parte partir pela pelas pelo pelos perto pode podem "
    "poder ponto pontos por porque possivelmente posso pouca pouco primeira primeiro puderam qual quando "
    "quanto quarta quarto quatro que quem quer quero quinta quinto quinze sabe se segunda segundo sei "
    "seis sem sempre ser seria sete seu seus sexta sexto sim sistema sob sobre sois somos sou sua suas "
    "tal talvez tanto tarde te tem temos tendes tenho tens ter terceira terceiro teu teus teve tive "
    "tivemos tiveram tiveste tivestes toda todas todo todos trabalho treze tu tua tuas tudo um uma umas "
    "uns vai vais vem vens ver vez vezes viagem vindo vinte vos vossa vossas vosso vossos zero";

constexpr std::string_view romanian_stop_words =
    "acea aceasta această aceea acei aceia acel acela acele acelea acest acesta aceste acestea aceşti "
    "aceştia acolo acord acum ai aia aibă aici al ale alea altceva altcineva am ar are asemenea asta "
    "astea astăzi asupra au avea avem aveţi azi aş aşadar aţi bine bucur bună ca care caut ce cel "
    "ceva chiar cinci cine cineva contra cu cum cumva curând curînd când cât câte câtva câţi "
    "cînd cît cîte cîtva cîţi că căci cărei căror cărui către da dacă dar datorită dată "
    "dau de deci deja deoarece departe deşi din dinaintea dintr- dintre doi doilea două drept după dă "
    "ea ei el ele eram este eu eşti face fata fi fie fiecare fii fim fiu fiţi frumos fără graţie "
    "halbă iar ieri la le li lor lui lângă lîngă mai mea mei mele mereu meu mi mie mine mult multă "
    "mulţi mulţumesc mâine mîine mă ne nevoie nici nicăieri nimeni nimeri nimic nişte noastre "
    "noastră noi noroc nostru nouă noştri nu opt ori oricare orice oricine oricum oricând oricât "
    "oricînd oricît oriunde patra patru patrulea pe pentru peste pic poate pot prea prima primul prin "
    "printr- puţin puţina puţină până pînă rog sa sale sau se spate spre sub sunt suntem sunteţi "
    "sută sînt sîntem sînteţi să săi său ta tale te timp tine toate toată tot totuşi toţi trei "
    "treia treilea tu tăi tău un una unde undeva unei uneia unele uneori unii unor unora unu unui unuia "
    "unul vi voastre voastră voi vostru vouă voştri vreme vreo vreun vă zece zero zi zice îi îl "
    "îmi împotriva în înainte înaintea încotro încât încît între întrucât întrucît îţi "
    "ăla ălea ăsta ăstea ăştia şapte şase şi ştiu ţi ţie";

constexpr std::string_view russian_stop_words =
    "а алло без близко более больше будем будет будете "
    "будешь будто буду будут будь бы бывает бывь был была "
    "были было быть в важная важное важные важный вам вами "
    "вас ваш ваша ваше ваши вверх вдали вдруг ведь везде "
    "весь вниз внизу во вокруг вон восемнадцатый "
    "восемнадцать восемь восьмой вот впрочем времени время "
    "все всегда всего всем всеми всему всех всею всю всюду "
    "вся всё второй вы г где говорил говорит год года году "
    "да давно даже далеко дальше даром два двадцатый "
    "двадцать две двенадцатый двенадцать двух "
    "девятнадцатый девятнадцать девятый девять "
    "действительно дел день десятый десять для до довольно "
    "долго должно другая другие других друго другое другой "
    "е его ее ей ему если есть еще ещё ею её ж же жизнь за "
    "занят занята занято заняты затем зато зачем здесь "
    "значит и из или им именно иметь ими имя иногда их к "
    "каждая каждое каждые каждый кажется как какая какой "
    "кем когда кого ком кому конечно которая которого "
    "которой которые который которых кроме кругом кто куда "
    "лет ли лишь лучше люди м мало между меля менее меньше "
    "меня миллионов мимо мира мне много многочисленная "
    "многочисленное многочисленные многочисленный мной "
    "мною мог могут мож может можно можхо мои мой мор мочь "
    "моя моё мы на наверху над надо назад наиболее наконец "
    "нам нами нас начала наш наша наше наши не него недавно "
    "недалеко нее ней нельзя нем немного нему непрерывно "
    "нередко несколько нет нею неё ни нибудь ниже низко "
    "никогда никуда ними них ничего но ну нужно нх о об оба "
    "обычно один одиннадцатый одиннадцать однажды однако "
    "одного одной около он она они оно опять особенно от "
    "отовсюду отсюда очень первый перед по под пожалуйста "
    "позже пока пор пора после посреди потом потому почему "
    "почти прекрасно при про просто против процентов "
    "пятнадцатый пятнадцать пятый пять раз разве рано "
    "раньше рядом с сам сама сами самим самими самих само "
    "самого самой самом самому саму свое своего своей свои "
    "своих свою сеаой себе себя сегодня седьмой сейчас "
    "семнадцатый семнадцать семь сих сказал сказала "
    "сказать сколько слишком сначала снова со собой собою "
    "совсем спасибо стал суть т та так такая также такие "
    "такое такой там твой твоя твоё те тебе тебя тем теми "
    "теперь тех то тобой тобою тогда того тоже только том "
    "тому тот тою третий три тринадцатый тринадцать ту туда "
    "тут ты тысяч у уж уже уметь хорошо хотеть хоть хотя "
    "хочешь часто чаще чего человек чем чему через "
    "четвертый четыре четырнадцатый четырнадцать что чтоб "
    "чтобы чуть шестнадцатый шестнадцать шестой шесть эта "
    "эти этим этими этих это этого этой этом этому этот эту "
    "я";

constexpr std::string_view swedish_stop_words =
    "aderton adertonde aldrig alla allas allt alltid andra andras annan annat artonde artonn att av bakom "
    "bara beslut beslutat beslutit bland blev bli blir blivit bort borta bra dag dagar dagarna dagen de "
    "del delen dem den deras dess det detta dig din dina dit ditt dock du efter eftersom elfte eller elva "
    "en enkel enkelt enkla enligt er era ert ett ettusen fanns fem femte femtio femtionde femton femtonde "
    "fick fin finnas finns fjorton fjortonde fler flera flesta fram fyra fyrtio fyrtionde genast genom "
    "gick gjorde gjort god goda godare godast gott ha hade haft han hans har heller hellre helst helt "
    "henne hennes hit hon honom hundra hundraen hundraett hur i ibland idag igen imorgon in inga ingen "
    "ingenting inget innan inne inom inte inuti ja jag kan kanske knappast kom komma kommer kommit kr "
    "kunde kunna kunnat kvar legat ligga ligger lika lilla lite liten litet man med mellan men mer mera "
    "mest mig min mina mindre minst mitt mittemot mot mycket ned nederst nedersta nedre nej ner ni nio "
    "nionde nittio nittionde nitton nittonde nog noll nr nu nummer och ofta oftast olika olikt om oss "
    "rakt redan sade sagt samma sedan senare senast sent sex sextio sextionde sexton sextonde sig sin "
    "sina sist sista siste sitt sju sjunde sjuttio sjuttionde sjutton sjuttonde ska skall skulle "
    "slutligen snart som stor stora stort tack tidig tidigare tidigast tidigt till tills tillsammans tio "
    "tionde tjugo tjugoen tjugoett tjugonde tjugotre tjungo tolfte tolv tre tredje trettio trettionde "
    "tretton trettonde under upp ur ut utan ute vad var vara varit varken vart vem vems verkligen vi vid "
    "vidare viktig viktigare viktigast viktigt vilka vilken vilket vill";

std::vector<std::string_view> split_words(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
  }
  return words;
}

struct StopWordList {
  std::string_view language;
  std::vector<std::string_view> words;
};

const std::array<StopWordList, 16>& stop_word_lists() {
  static const std::array<StopWordList, 16> lists = {{
      {"ar", split_words(arabic_stop_words)},
      {"bg", split_words(bulgarian_stop_words)},
      {"cs", split_words(czech_stop_words)},
      {"de", split_words(german_stop_words)},
      {"en", split_words(english_stop_words)},
      {"es", split_words(spanish_stop_words)},
      {"fi", split_words(finnish_stop_words)},
      {"fr", split_words(french_stop_words)},
      {"hi", split_words(hindi_stop_words)},
      {"hu", split_words(hungarian_stop_words)},
      {"it", split_words(italian_stop_words)},
      {"pl", split_words(polish_stop_words)},
      {"pt", split_words(portuguese_stop_words)},
      {"ro", split_words(romanian_stop_words)},
      {"ru", split_words(russian_stop_words)},
      {"sv", split_words(swedish_stop_words)},
  }};
  return lists;
}

}  // namespace

bool is_stop_word(std::string_view language, std::string_view word) {
  for (const StopWordList& list : stop_word_lists())
    if (list.language == language) return std::binary_search(list.words.begin(), list.words.end(), word);
  return false;
}

}  // namespace sibyl::plan
