//! The vocabulary of made-up records: a few scripts, each with words of its
//! own, names and the punctuation that joins them.

/// One language: what a title, a name and a sentence are made of.
pub(crate) struct Language {
    /// ISO 639 code, as in `dc:language` and `xml:lang`.
    pub(crate) code: &'static str,
    /// Words, separated by white space.
    words: &'static str,
    given_names: &'static str,
    surnames: &'static str,
    publishers: &'static [&'static str],
    /// Between two words: Japanese writes none.
    pub(crate) space: &'static str,
    pub(crate) full_stop: &'static str,
}

/// A language with its word lists taken apart, once.
pub(crate) struct Vocabulary {
    pub(crate) language: &'static Language,
    pub(crate) words: Vec<&'static str>,
    pub(crate) given_names: Vec<&'static str>,
    pub(crate) surnames: Vec<&'static str>,
    pub(crate) publishers: &'static [&'static str],
}

pub(crate) fn vocabularies() -> Vec<Vocabulary> {
    LANGUAGES
        .iter()
        .map(|language| Vocabulary {
            language,
            words: language.words.split_whitespace().collect(),
            given_names: language.given_names.split_whitespace().collect(),
            surnames: language.surnames.split_whitespace().collect(),
            publishers: language.publishers,
        })
        .collect()
}

static LANGUAGES: &[Language] = &[
    Language {
        code: "en",
        words: "river archive survey of the and in from early modern trade harbour \
            manuscript botany winter glacier measurement painted catalogue notes on \
            migration language village church record weather bridge railway letters \
            collected observations upon history toward theory coast light stone \
            mineral sediment population household agriculture forest timber mill \
            print copper engraving plate portrait landscape travel journal diary \
            astronomy comet lens instrument physician hospital plague remedy law \
            court council charter tax estate inventory weaving wool linen dye \
            pottery kiln glass window bell tower organ music song dance theatre \
            school university lecture thesis method error statistics sample model \
            network signal energy carbon soil water quality policy memory city",
        given_names: "Anna Edward Margaret James Eleanor Thomas Ruth William Clara Henry \
            Alice George Martha Samuel Ida Walter",
        surnames: "Ashworth Bennett Carver Dunmore Ellison Fairfax Greenhalgh Hargreaves \
            Irving Jessop Kingsley Lockwood Merriweather Norwood Osgood Pemberton \
            Quill Ravenscroft Sheldon Thackeray",
        publishers: &[
            "Harbour & Mill Press",
            "University of the Fells",
            "Northern Survey Society",
        ],
        space: " ",
        full_stop: ".",
    },
    Language {
        code: "la",
        words: "de rerum natura et historia urbis in libro primo secundo commentarius \
            tractatus observationes herbarum animalium stellarum terrae maris fluminum \
            montium descriptio nova tabula regni provinciae episcopatus monasterii \
            ecclesiae sancti chronica annales ab origine usque ad tempora nostra cum \
            figuris aeneis ornata editio emendata lexicon grammatica linguae graecae \
            hebraicae epistolae familiares orationes disputatio medica iuridica \
            philosophica theologica inauguralis quam publico examini subiicit sub \
            praesidio auctor respondens dissertatio specimen systema elementa \
            principia mathematica optica mechanica astronomica calendarium itinerarium \
            peregrinatio bibliotheca catalogus codicum manuscriptorum fragmenta carmina \
            elegiae fabulae vita mors amicitia virtus sapientia veritas lux tenebrae",
        given_names: "Iohannes Petrus Gulielmus Antonius Franciscus Carolus Henricus Iacobus \
            Georgius Martinus Paulus Theodorus",
        surnames: "Agricola Camerarius Dalechampius Faber Gesnerus Heinsius Lipsius Molitor \
            Nauclerus Oporinus Piscator Regiomontanus Sartorius Textor Vulcanius \
            Xylander",
        publishers: &[
            "Officina ad Leonem Rubrum",
            "Typis Collegii Academici",
            "Sumptibus Auctoris",
        ],
        space: " ",
        full_stop: ".",
    },
    Language {
        code: "de",
        words: "Untersuchungen über die Geschichte der und des im Übergang zur Neuzeit \
            Stadtansicht Grundriß Landesaufnahme Flößerei Bergbau Hüttenwesen \
            Gewässer Wälder Straßen Brücken Häuser Bürger Zünfte Märkte Mühlen \
            Verhältnisse zwischen Wirtschaft Gesellschaft Frömmigkeit Kirchenbücher \
            Handschriften Nachlaß Briefwechsel Sammlung Verzeichnis Beiträge \
            Überlieferung mündliche Erzählungen Sprichwörter Volkslieder Gemälde \
            Kupferstich Lithographie Photographie Lichtbild Aufnahme Ansichtskarte \
            Bahnhof Eisenbahn Kanal Hafen Schiffahrt Fischerei Landwirtschaft \
            Düngung Ernährung Krankheit Seuche Arzneimittel Universität Prüfung \
            Dissertation Verfahren Messung Ergebnisse Wärmeübertragung Strömung \
            Werkstoffe Prüfstand Größe Verteilung Näherung Gleichung Lösung Beweis \
            während nach vor gegenüber mittels anhand ausgewählter Beispiele",
        given_names: "Jörg Käthe Wilhelm Brünhilde Gottfried Annegret Friedrich Elisabeth \
            Günther Lieselotte Heinrich Mathilde Björn Cäcilie",
        surnames: "Müller Schröder Weiß Großmann Köhler Jäger Krüger Vögele Lübbers Öttinger \
            Fürstenau Hölzl Käßmann Pfändner Süßmilch Tröger",
        publishers: &[
            "Verlag für Landeskunde, Göttingen",
            "Universitätsbibliothek Würzburg",
            "Historischer Verein e. V. & Söhne",
        ],
        space: " ",
        full_stop: ".",
    },
    Language {
        code: "cs",
        words: "příspěvek k dějinám města a okolí ve středověku rukopis kronika listina \
            pečeť mapa nástin řeka hory údolí příroda květena živočichové hornictví \
            sklářství zemědělství včelařství pivovar mlýn náměstí kostel zámek hřbitov \
            škola knihovna čtenář učitel žák lidová píseň pověst pohádka nářečí \
            slovník jazyk výslovnost překlad báseň divadlo hudba varhany fotografie \
            pohlednice kresba rytina výstava sbírka muzeum památka stavba železnice \
            silnice přístav loď obchod řemeslo cech daň právo soud zákon úřad \
            obyvatelstvo sčítání stěhování válka mír nemoc lékařství léčba výzkum \
            měření výsledky metoda rovnice řešení vlastnosti látek teplota tlak \
            proudění znečištění ovzduší vody půdy během podle mezi včetně zřejmě",
        given_names: "Jiří Božena Václav Ludmila Zdeněk Růžena Bohuslav Květa Řehoř Jarmila \
            Oldřich Markéta",
        surnames: "Dvořák Svobodová Černý Horáková Němec Procházková Růžička Šťastný Vlček \
            Žižková Čapek Kříž Machová Pospíšil Říhová Ševčík",
        publishers: &[
            "Nakladatelství Vltava",
            "Moravská zemská knihovna",
            "Spolek přátel místních dějin",
        ],
        space: " ",
        full_stop: ".",
    },
    Language {
        code: "sr",
        words: "прилози за историју града и околине у средњем веку рукопис летопис повеља \
            печат карта река планина долина природа биљке животиње рударство \
            пољопривреда виноградарство пчеларство млин трг црква манастир тврђава \
            гробље школа библиотека читалац учитељ ученик народна песма предање \
            приповетка говор речник језик превод позориште музика фотографија \
            разгледница цртеж гравира изложба збирка музеј споменик грађевина железница \
            пут пристаниште брод трговина занат еснаф порез право суд закон \
            становништво попис сеоба рат мир болест медицина лечење истраживање \
            мерење резултати метода једначина решење својства материјала температура \
            притисак струјање загађење ваздуха воде земљишта током према између",
        given_names: "Јован Милица Стеван Љубица Ђорђе Надежда Вук Јелена Живојин Даница Петар \
            Зорка",
        surnames: "Јовановић Петровић Ђурић Љубисављевић Живковић Николић Стојановић Поповић \
            Марковић Илић Њежић Џамић Обрадовић Чолић",
        publishers: &[
            "Матица књижевна",
            "Народна библиотека Шумадије",
            "Завичајно друштво „Дунав“",
        ],
        space: " ",
        full_stop: ".",
    },
    Language {
        code: "ja",
        words: "江戸 時代 における 都市 の 歴史 と 文化 に関する 研究 古地図 絵図 写真 \
            葉書 版画 浮世絵 屏風 巻物 写本 文書 目録 解題 図書館 所蔵 資料 調査 \
            報告 書 論文 集 大学 紀要 第一 巻 第二 号 明治 大正 昭和 前期 後期 \
            農業 漁業 林業 鉱山 製糸 織物 陶磁器 醸造 商業 港湾 鉄道 橋梁 河川 \
            治水 気象 観測 地震 津波 火山 地質 植物 動物 昆虫 標本 医学 薬草 \
            疫病 看護 教育 学校 教科書 言語 方言 音韻 文法 辞書 翻訳 詩歌 俳句 \
            物語 演劇 能楽 音楽 祭礼 神社 寺院 仏像 庭園 建築 民家 から まで \
            について を 中心 として その 変遷 考察 方法 結果 モデル データ 分析",
        given_names: "太郎 花子 健一 美咲 正雄 千代 一郎 和子 清 恵子 三郎 文",
        surnames: "佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林 加藤 吉田 山田 斎藤 清水",
        publishers: &["京都史料刊行会", "東京地図出版", "東北大学出版部"],
        space: "",
        full_stop: "。",
    },
];
