//! Queries as people write them, and what is looked for.

use std::path::Path;

use super::stem::Folding;
use super::{Language, Languages, is_stopword};

/// The words of a query as the index makes them, folded and cut.
fn split(languages: &mut Languages, query: &str) -> Vec<String> {
    let mut folding = Folding::new();
    let mut words = Vec::new();
    for token in query.split(|c: char| !c.is_alphanumeric()) {
        match languages.cut(token) {
            Some(cut) => words.extend(cut.iter().map(|word| folding.fold(word))),
            None if token.is_empty() => {}
            None => words.push(folding.fold(token)),
        }
    }
    words
}

/// The language of a query and the best English word for each word that tells something.
fn read(languages: &mut Languages, query: &str) -> (Option<Language>, String) {
    let words = split(languages, query);
    let language = languages.detect(&words);
    let mut english = Vec::new();
    for word in &words {
        if languages.tells_nothing(word, language) {
            continue;
        }
        let meant = languages.english(word, language);
        english.push(meant.first().unwrap_or(&&**word).to_string());
    }
    (language, english.join(" "))
}

fn check(language: Language, queries: &[(&str, &str)]) {
    let mut languages = Languages::new();
    let mut wrong = Vec::new();
    for (query, expected) in queries {
        let (found, english) = read(&mut languages, query);
        if found != Some(language) || english != *expected {
            wrong.push(format!(
                "{query}: {found:?}, {english}; expected {expected}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn german_is_read() {
    check(
        Language::German,
        &[
            (
                "Schick dem Team auf Slack eine Nachricht",
                "send team slack message",
            ),
            ("Welche Termine habe ich morgen?", "list event"),
            (
                "alle überfälligen Rechnungen anzeigen",
                "overdue invoice list",
            ),
            ("Lade die Datei in Dropbox hoch", "upload file dropbox"),
            (
                "neue Aufgabe für das Projekt anlegen",
                "create task project create",
            ),
            ("Kalendereintrag löschen", "calendar delete"),
            (
                "Kontostand von meinem Konto abfragen",
                "balance account get",
            ),
            (
                "loesche den Ordner mit alten Entwuerfen",
                "delete folder draft",
            ),
        ],
    );
}

#[test]
fn spanish_is_read() {
    check(
        Language::Spanish,
        &[
            (
                "envía un correo a Juan con el informe",
                "send email juan report",
            ),
            ("¿Qué reuniones tengo mañana?", "meeting"),
            (
                "crear una factura para el cliente",
                "create invoice customer",
            ),
            (
                "publica un mensaje en el canal de Slack",
                "publish message channel slack",
            ),
            ("¿dónde está mi paquete?", "tracking"),
            (
                "añadir una fila a la hoja de cálculo",
                "add row spreadsheet spreadsheet",
            ),
            (
                "descargar los archivos de la carpeta",
                "download file folder",
            ),
            ("reservar un vuelo a Lisboa", "book flight lisboa"),
        ],
    );
}

#[test]
fn french_is_read() {
    check(
        Language::French,
        &[
            (
                "envoie un message à l'équipe sur Slack",
                "send message team slack",
            ),
            ("quels rendez-vous ai-je demain ?", "list appointment"),
            (
                "créer une facture pour le client",
                "create invoice customer",
            ),
            (
                "téléverse ce fichier dans le dossier partagé",
                "upload file folder share",
            ),
            ("rembourser la commande d'hier", "refund order"),
            ("supprime la tâche du projet", "delete task project"),
            ("quel temps fait-il à Lyon", "weather lyon"),
            ("ajoute un commentaire au ticket", "add comment ticket"),
        ],
    );
}

#[test]
fn italian_is_read() {
    check(
        Language::Italian,
        &[
            (
                "invia un messaggio al canale di Slack",
                "send message channel slack",
            ),
            ("mostrami le fatture scadute", "list invoice overdue"),
            (
                "crea un nuovo evento nel calendario",
                "create create event calendar",
            ),
            ("carica il file nella cartella", "upload file folder"),
            ("cerca i contatti dell'azienda", "search contact company"),
            (
                "annulla l'abbonamento del cliente",
                "cancel subscription customer",
            ),
            (
                "che tempo fa a Torino, previsioni",
                "weather torino weather",
            ),
            (
                "aggiungi una riga al foglio di calcolo",
                "add row spreadsheet spreadsheet",
            ),
        ],
    );
}

#[test]
fn portuguese_is_read() {
    check(
        Language::Portuguese,
        &[
            (
                "envie uma mensagem para a equipe no Slack",
                "send message team slack",
            ),
            ("quais reuniões tenho amanhã", "list meeting"),
            (
                "emitir uma fatura para o cliente",
                "emitir invoice customer",
            ),
            ("baixar os arquivos da pasta", "download file folder"),
            ("reembolsar o pedido do cliente", "refund order customer"),
            ("criar uma tarefa no projeto", "create task project"),
            ("adicione um comentário ao chamado", "add comment issue"),
            (
                "qual é a previsão do tempo em Lisboa",
                "weather weather lisboa",
            ),
        ],
    );
}

#[test]
fn dutch_is_read() {
    check(
        Language::Dutch,
        &[
            (
                "stuur een bericht naar het team op Slack",
                "send message team slack",
            ),
            ("welke afspraken heb ik morgen", "list appointment"),
            ("maak een factuur voor de klant", "create invoice customer"),
            ("verwijder het bestand uit de map", "delete file folder"),
            ("zoek de openstaande betalingen", "search unpaid payment"),
            ("voeg een taak toe aan het project", "add task add project"),
            ("wat wordt het weer in Utrecht", "weather utrecht"),
            (
                "vertaal deze tekst naar het Engels",
                "translate text language",
            ),
        ],
    );
}

#[test]
fn polish_is_read() {
    check(
        Language::Polish,
        &[
            (
                "wyślij wiadomość do zespołu na Slacku",
                "send message team slack",
            ),
            ("pokaż moje spotkania na jutro", "list meeting"),
            ("utwórz fakturę dla klienta", "create invoice customer"),
            ("pobierz plik z folderu", "download file folder"),
            ("dodaj zadanie do projektu", "add task project"),
            ("jaka będzie pogoda w Krakowie", "bedzie weather krakowie"),
            ("anuluj subskrypcję klienta", "cancel subscription customer"),
            ("zwrot pieniędzy za zamówienie", "refund pieniedzy order"),
        ],
    );
}

#[test]
fn russian_is_read() {
    check(
        Language::Russian,
        &[
            (
                "отправь сообщение в канал Slack",
                "send message channel slack",
            ),
            ("покажи мои встречи на завтра", "list meeting"),
            ("создай счёт для клиента", "create invoice customer"),
            ("загрузи файл в папку", "upload file folder"),
            ("добавь задачу в проект", "add task project"),
            ("какая погода в Москве", "weather москве"),
            ("верни деньги за заказ", "refund payment order"),
            ("найди открытые заявки", "search open ticket"),
        ],
    );
}

#[test]
fn japanese_is_read() {
    check(
        Language::Japanese,
        &[
            ("Slackでチームにメッセージを送る", "slack team message send"),
            ("明日の予定を教えて", "event list"),
            ("請求書を作成する", "invoice create"),
            ("ファイルをアップロードして", "file upload"),
            ("東京の天気", "東京 weather"),
            ("タスクをプロジェクトに追加", "task project add"),
            ("お知らせを下書きに保存", "notification draft save"),
            ("注文を返金する", "order refund"),
        ],
    );
}

#[test]
fn chinese_is_read() {
    check(
        Language::Chinese,
        &[
            ("给团队发送一条Slack消息", "team send slack message"),
            ("明天有什么会议", "meeting"),
            ("为客户创建发票", "customer create invoice"),
            ("把文件上传到文件夹", "file upload folder"),
            ("查询银行账户余额", "query bank account balance"),
            ("北京天气怎么样", "北京 weather"),
            ("退款这个订单", "refund order"),
            ("發送訊息到頻道", "send message channel"),
        ],
    );
}

#[test]
fn a_word_of_several_languages_is_english_unless_the_query_is_not() {
    let mut languages = Languages::new();
    for (query, language, english) in [
        ("termine", Some(Language::German), "event"),
        ("note", None, "note"),
        ("die letzten Termine", Some(Language::German), "event"),
        ("add a note to the file", None, "add a note to the file"),
        ("post a chat message", None, "post a chat message"),
        ("die", None, "die"),
        ("list my pets", None, "list my pets"),
        (
            "wyślij list do klienta",
            Some(Language::Polish),
            "send email customer",
        ),
        (
            "ajoute une note au fichier",
            Some(Language::French),
            "add note file",
        ),
        (
            "aggiungi una nota al file",
            Some(Language::Italian),
            "add note file",
        ),
        (
            "bekijk de post in de map",
            Some(Language::Dutch),
            "list email folder",
        ),
        ("map of the city", None, "map of the city"),
        ("le chat de l'équipe", Some(Language::French), "chat team"),
        ("red team", None, "red team"),
        (
            "estado de la red",
            Some(Language::Spanish),
            "status network",
        ),
        ("translate guten Morgen", None, "translate guten"),
        ("weather in La Paz", None, "weather in paz"),
        ("agenda for monday", None, "agenda for monday"),
        ("message", None, "message"),
        ("", None, ""),
    ] {
        assert_eq!(
            read(&mut languages, query),
            (language, english.to_owned()),
            "{query}"
        );
    }
}

#[test]
fn a_word_alone_is_read_where_english_has_not_it() {
    let languages = Languages::new();
    assert_eq!(languages.exact("rechnung"), ["invoice"]);
    assert!(languages.exact("note").is_empty());
    assert!(languages.exact("list").is_empty());
    assert!(languages.exact("xyzzy").is_empty());
}

#[test]
fn a_form_is_read_where_it_is_no_form_of_an_english_word() {
    let mut languages = Languages::new();
    assert_eq!(languages.form("rechnungen").first(), Some(&"invoice"));
    assert_eq!(languages.form("сообщениями").first(), Some(&"message"));
    for word in ["creating", "xyzzyx", "posts", "even", "meta"] {
        assert!(languages.form(word).is_empty(), "{word}");
    }
}

#[test]
fn a_stop_word_of_another_language_is_none_where_english_or_a_dictionary_has_it() {
    for word in ["und", "para", "avec", "della", "het", "oraz", "для", "的"] {
        assert!(is_stopword(word), "{word}");
    }
    for word in [
        "die", "pod", "ai", "est", "tag", "comment", "slack", "rechnung", "po",
    ] {
        assert!(!is_stopword(word), "{word}");
    }
}

#[test]
fn a_text_without_spaces_is_cut_into_known_words() {
    let mut languages = Languages::new();
    for (token, expected) in [
        (
            "Slackでチームにメッセージを送る",
            &["Slack", "チーム", "メッセージ", "送"][..],
        ),
        ("東京の天気", &["東京", "天気"]),
        ("新規請求書作成", &["新規", "請求書", "作成"]),
        ("查询所有发票", &["查询", "发票"]),
        ("Teamkalender", &["team", "kalender"]),
        ("Zahlungserinnerung", &["zahlung", "erinnerung"]),
        ("klantgegevens", &["klant", "gegevens"]),
    ] {
        assert_eq!(
            languages.cut(token).as_deref(),
            Some(expected)
                .map(|e| e.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
                .as_deref(),
            "{token}"
        );
    }
    for token in [
        "slack",
        "Rechnung",
        "notification",
        "firmware",
        "sendMessage",
        "filmstrip",
        "unsubscribe",
        "",
    ] {
        assert_eq!(languages.cut(token), None, "{token}");
    }
}

/// The queries of the scoreboard with their language, as a code of two letters.
fn judged_queries() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/search");
    let mut files = vec![folder.join("queries.txt"), folder.join("vague.txt")];
    let foreign = std::fs::read_dir(folder.join("foreign")).expect("the folder of foreign sets");
    files.extend(foreign.map(|entry| entry.expect("an entry").path()));
    let texts = files
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "txt"));
    texts
        .flat_map(|path| {
            let text = std::fs::read_to_string(path).expect("a set of queries");
            let judged = text.lines().filter_map(|line| {
                let (language, rest) = line.split_once(" | ")?;
                let query = rest.split(" | ").next()?;
                (language.len() == 2).then(|| (language.to_owned(), query.to_owned()))
            });
            judged.collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn the_language_of_the_judged_queries_is_recognised() {
    let codes = ["de", "es", "fr", "it", "pt", "nl", "pl", "ru", "ja", "zh"];
    let mut languages = Languages::new();
    let (mut english, mut others) = (0, 0);
    let (mut english_wrong, mut others_wrong) = (Vec::new(), Vec::new());
    for (code, query) in judged_queries() {
        let words = split(&mut languages, &query);
        let found = languages.detect(&words).map(|found| codes[found as usize]);
        let (all, wrong) = match code == "en" {
            true => (&mut english, &mut english_wrong),
            false => (&mut others, &mut others_wrong),
        };
        *all += 1;
        if found.unwrap_or("en") != code {
            wrong.push(format!("{code}, read as {found:?}: {query}"));
        }
    }
    assert!(english > 1_000 && others > 100, "{english} and {others}");
    // A misspelt English word may be one of another language.
    assert!(english_wrong.len() * 200 < english, "{english_wrong:#?}");
    // Related languages share whole sentences, and some queries are English but for a word.
    assert!(others_wrong.len() * 10 < others, "{others_wrong:#?}");
}
