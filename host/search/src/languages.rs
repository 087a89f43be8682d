//! German, Spanish and Japanese words for what tools are described with in English.
//!
//! A small dictionary of the trade, not a translator: verbs and nouns that people use towards
//! chat, mail, calendar, code, sales, money, files, media and places. German and Spanish words
//! are compared by their own stems; Japanese is cut into its scripts and the longest known words.

use std::collections::HashMap;

use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer};

/// Words (several separated by spaces) and the English words that stand for them.
type LanguageEntry = (&'static str, &'static [&'static str]);

/// Longest Japanese word of the dictionary, in characters.
const JAPANESE_CHARS_MAX: usize = 8;
/// Shorter words are not compared by stem.
const FORM_BYTES_MIN: usize = 4;

const GERMAN: &[LanguageEntry] = &[
    (
        "schicke schicken schick sende senden versenden absenden verschicken",
        &["send"],
    ),
    (
        "schreibe schreiben schreib verfasse verfassen",
        &["write", "send"],
    ),
    (
        "sage teile benachrichtige benachrichtigen melde",
        &["send", "notify"],
    ),
    (
        "poste posten veroffentliche veroffentlichen publiziere",
        &["post", "publish"],
    ),
    (
        "erstelle erstellen anlegen lege erzeuge neu neue neuen neues neuer mache",
        &["create"],
    ),
    ("hinzufugen fuge erganze erganzen eintragen", &["add"]),
    (
        "zeige zeigen anzeigen liste auflisten welche",
        &["list", "get"],
    ),
    ("lies lesen lese abrufen hole holen", &["get", "read"]),
    ("suche suchen finde finden durchsuche", &["search", "find"]),
    ("losche loschen entferne entfernen", &["delete", "remove"]),
    (
        "andere andern bearbeite bearbeiten aktualisiere aktualisieren",
        &["update"],
    ),
    ("verschiebe verschieben", &["move"]),
    ("storniere stornieren absagen kundige kundigen", &["cancel"]),
    (
        "schliesse schliessen erledige erledigen abschliessen",
        &["close", "complete"],
    ),
    ("antworte antworten beantworte beantworten", &["reply"]),
    ("weiterleiten leite", &["forward"]),
    ("einladen", &["invite"]),
    ("zuweisen weise", &["assign"]),
    ("hochladen lade", &["upload"]),
    ("herunterladen runterladen", &["download"]),
    ("teilen freigeben", &["share"]),
    ("kopiere kopieren", &["copy"]),
    ("starte starten ausfuhren", &["start", "run"]),
    ("stoppe stoppen anhalten", &["stop"]),
    ("neustarten", &["restart"]),
    ("spiele abspielen", &["play"]),
    ("buche buchen", &["book", "create"]),
    ("plane planen", &["schedule"]),
    ("zusammenfuhren", &["merge"]),
    ("genehmige genehmigen freigabe", &["approve"]),
    ("abonniere abonnieren", &["subscribe"]),
    ("ubersetze ubersetzen ubersetzung", &["translate"]),
    (
        "erstatte erstatten ruckerstattung ruckzahlung erstattung",
        &["refund"],
    ),
    (
        "unterschreibe unterschreiben unterschrift signatur",
        &["signature"],
    ),
    ("nachricht nachrichten mitteilung", &["message"]),
    ("kanal kanale", &["channel"]),
    ("mannschaft gruppe", &["team"]),
    ("briefe postfach posteingang", &["email", "mail"]),
    ("anhang anhange", &["attachment"]),
    ("entwurf entwurfe", &["draft"]),
    ("ordner verzeichnis", &["folder"]),
    ("datei dateien", &["file"]),
    ("dokument dokumente", &["document"]),
    ("tabelle tabellen", &["table", "spreadsheet"]),
    ("zeile zeilen", &["row"]),
    ("spalte spalten", &["column"]),
    ("seite seiten", &["page"]),
    ("notiz notizen", &["note"]),
    (
        "termin termine ereignis veranstaltung",
        &["event", "appointment"],
    ),
    ("kalender", &["calendar"]),
    ("besprechung besprechungen sitzung", &["meeting"]),
    ("verfugbarkeit", &["availability"]),
    ("aufgabe aufgaben", &["task"]),
    ("projekt projekte", &["project"]),
    ("fehler", &["bug", "error", "issue"]),
    ("vorgang vorgange", &["issue", "ticket"]),
    ("kommentar kommentare kommentiere", &["comment"]),
    ("benutzer nutzer mitglied mitglieder", &["user", "member"]),
    ("kunde kunden kundin", &["customer", "contact"]),
    ("kontakt kontakte", &["contact"]),
    ("firma unternehmen", &["company"]),
    ("geschaft angebot", &["deal"]),
    ("rechnung rechnungen", &["invoice"]),
    ("zahlung zahlungen bezahlung", &["payment"]),
    ("bestellung bestellungen auftrag", &["order"]),
    ("produkt produkte artikel ware", &["product"]),
    ("lager bestand", &["inventory"]),
    ("abonnement", &["subscription"]),
    ("konto konten", &["account"]),
    ("guthaben kontostand", &["balance"]),
    ("ausgabe ausgaben kosten", &["expense"]),
    ("sendung paket pakete lieferung", &["shipment", "tracking"]),
    ("versandetikett", &["label"]),
    ("bereitschaft bereitschaftsdienst", &["oncall", "on-call"]),
    ("alarm alarme warnung", &["alert"]),
    ("storung vorfall", &["incident"]),
    ("zweig", &["branch"]),
    ("veroffentlichung", &["release"]),
    ("umfrage umfragen", &["survey", "poll"]),
    ("antworten", &["response"]),
    ("formular formulare", &["form"]),
    ("bild bilder foto fotos", &["image", "photo"]),
    ("musik lied lieder", &["music", "track"]),
    ("wiedergabeliste", &["playlist"]),
    ("wetter wettervorhersage", &["weather", "forecast"]),
    ("luftqualitat", &["air"]),
    ("karte karten", &["card", "map"]),
    ("strecke", &["directions"]),
    ("nachrichten schlagzeilen", &["news", "headline"]),
    ("zeit stunden", &["time"]),
    ("zeiterfassung", &["time"]),
    ("vorlage vorlagen", &["template"]),
    ("bewerber kandidat kandidaten", &["candidate"]),
    ("stimme sprache", &["speech", "language"]),
    ("umgebungsvariable", &["variable"]),
    ("geheimnis", &["secret"]),
    ("passwort kennwort", &["password"]),
    ("offen offene", &["open"]),
    ("uberfallig", &["overdue"]),
];

const SPANISH: &[LanguageEntry] = &[
    ("envia enviar envio manda mandar", &["send"]),
    ("escribe escribir redacta", &["write", "send"]),
    ("avisa notifica notificar", &["notify", "send"]),
    ("publica publicar", &["publish", "post"]),
    ("crea crear nuevo nueva haz", &["create"]),
    ("anade anadir agrega agregar", &["add"]),
    ("muestra mostrar lista listar ver ensena", &["list", "get"]),
    ("leer obtener dame consultar", &["get", "read"]),
    ("busca buscar encuentra encontrar", &["search", "find"]),
    (
        "borra borrar elimina eliminar quita quitar",
        &["delete", "remove"],
    ),
    (
        "actualiza actualizar cambia cambiar modifica modificar edita editar",
        &["update"],
    ),
    ("mueve mover", &["move"]),
    ("cancela cancelar anula anular", &["cancel"]),
    ("cierra cerrar completa completar", &["close", "complete"]),
    ("responde contesta contestar", &["reply"]),
    ("reenvia reenviar", &["forward"]),
    ("invita invitar", &["invite"]),
    ("asigna asignar asignado", &["assign"]),
    ("sube subir", &["upload"]),
    ("descarga descargar", &["download"]),
    ("comparte compartir", &["share"]),
    ("copia copiar", &["copy"]),
    ("inicia iniciar ejecuta ejecutar", &["start", "run"]),
    ("deten detener parar", &["stop"]),
    ("reinicia reiniciar", &["restart", "reboot"]),
    ("reproduce reproducir", &["play"]),
    ("reserva reservar", &["book", "booking"]),
    ("programa programar agendar", &["schedule"]),
    ("fusiona fusionar", &["merge"]),
    ("aprueba aprobar", &["approve"]),
    ("suscribe suscribir", &["subscribe"]),
    ("traduce traducir traduccion", &["translate"]),
    ("reembolsa reembolsar reembolso devolucion", &["refund"]),
    ("firma firmar", &["signature"]),
    ("mensaje mensajes", &["message"]),
    ("canal canales", &["channel"]),
    ("equipo equipos grupo", &["team"]),
    ("correo correos", &["email", "mail"]),
    ("bandeja", &["inbox", "message"]),
    ("adjunto adjuntos", &["attachment"]),
    ("borrador borradores", &["draft"]),
    ("carpeta carpetas", &["folder"]),
    ("archivo archivos fichero ficheros", &["file"]),
    ("documento documentos", &["document"]),
    ("tabla tablas", &["table"]),
    ("hoja hojas calculo", &["spreadsheet", "sheet"]),
    ("fila filas", &["row", "values"]),
    ("columna columnas", &["column"]),
    ("pagina paginas", &["page"]),
    ("nota notas", &["note"]),
    ("evento eventos cita citas", &["event", "appointment"]),
    ("calendario calendarios", &["calendar"]),
    ("reunion reuniones", &["meeting", "event"]),
    ("disponibilidad", &["availability"]),
    ("tarea tareas", &["task"]),
    ("proyecto proyectos", &["project"]),
    ("incidencia incidencias", &["issue", "ticket"]),
    ("comentario comentarios", &["comment"]),
    ("usuario usuarios miembro miembros", &["user", "member"]),
    ("cliente clientes", &["customer", "contact"]),
    ("contacto contactos", &["contact"]),
    ("empresa empresas", &["company"]),
    ("negocio oportunidad", &["deal", "opportunity"]),
    ("factura facturas", &["invoice"]),
    ("pago pagos", &["payment"]),
    ("pedido pedidos", &["order"]),
    ("producto productos", &["product"]),
    ("inventario existencias", &["inventory"]),
    ("suscripcion suscripciones", &["subscription"]),
    ("cuenta cuentas", &["account"]),
    ("saldo", &["balance"]),
    ("gasto gastos", &["expense"]),
    ("paquete paquetes", &["tracking", "shipment"]),
    ("envios", &["shipment"]),
    ("etiqueta etiquetas", &["label", "tag"]),
    ("guardia", &["oncall", "on-call"]),
    ("alerta alertas", &["alert"]),
    ("incidente incidentes", &["incident"]),
    ("rama ramas", &["branch"]),
    ("repositorio repositorios", &["repository", "repo"]),
    ("encuesta encuestas", &["survey", "poll"]),
    ("respuesta respuestas", &["response"]),
    ("formulario formularios", &["form"]),
    ("imagen imagenes foto fotos", &["image", "photo"]),
    ("musica cancion canciones", &["music", "track"]),
    ("tiempo clima pronostico", &["weather", "forecast"]),
    ("mapa", &["map"]),
    ("ruta", &["directions"]),
    ("noticia noticias titulares", &["news", "headline"]),
    ("hora horas", &["time"]),
    ("plantilla plantillas", &["template"]),
    ("candidato candidatos", &["candidate"]),
    ("texto", &["text"]),
    ("servidor servidores", &["server"]),
    ("contrasena", &["password"]),
    ("abierto abierta abiertos", &["open"]),
];

const JAPANESE: &[LanguageEntry] = &[
    ("送 送信 送付", &["send"]),
    ("書 書込", &["write", "send"]),
    ("投稿", &["post"]),
    ("通知", &["notify"]),
    ("公開", &["publish"]),
    ("作成 作 新規 登録", &["create"]),
    ("追加", &["add"]),
    ("一覧 表示 見 教 リスト", &["list", "get"]),
    ("取得 読", &["get", "read"]),
    ("検索 探", &["search", "find"]),
    ("削除 消", &["delete"]),
    ("更新 変更 編集", &["update"]),
    ("移動", &["move"]),
    ("取消 キャンセル 解約", &["cancel"]),
    ("完了 閉", &["close", "complete"]),
    ("返信", &["reply"]),
    ("転送", &["forward"]),
    ("招待", &["invite"]),
    ("割当", &["assign"]),
    ("アップロード", &["upload"]),
    ("ダウンロード", &["download"]),
    ("共有", &["share"]),
    ("コピー 複製", &["copy"]),
    ("開始 実行", &["start", "run"]),
    ("停止", &["stop"]),
    ("再起動", &["restart", "reboot"]),
    ("再生", &["play", "playback"]),
    ("予約", &["book", "booking"]),
    ("マージ", &["merge"]),
    ("承認", &["approve"]),
    ("購読", &["subscribe"]),
    ("翻訳", &["translate"]),
    ("返金 払戻", &["refund"]),
    ("署名", &["signature"]),
    ("メッセージ", &["message"]),
    ("チャンネル", &["channel"]),
    ("チーム", &["team"]),
    ("メール", &["email", "mail"]),
    ("受信", &["inbox", "message"]),
    ("添付", &["attachment"]),
    ("下書", &["draft"]),
    ("フォルダ フォルダー", &["folder"]),
    ("ファイル", &["file"]),
    ("文書 ドキュメント 書類", &["document"]),
    ("表 テーブル", &["table"]),
    ("スプレッドシート", &["spreadsheet"]),
    ("行", &["row"]),
    ("列", &["column"]),
    ("ページ", &["page"]),
    ("メモ ノート", &["note"]),
    ("予定 イベント", &["event"]),
    ("カレンダー", &["calendar"]),
    ("会議 ミーティング 打合", &["meeting"]),
    ("空", &["available"]),
    ("タスク 課題", &["task"]),
    ("プロジェクト", &["project"]),
    ("イシュー 不具合 バグ", &["issue", "bug"]),
    ("チケット", &["ticket"]),
    ("コメント", &["comment"]),
    ("ユーザー 利用者 メンバー", &["user", "member"]),
    ("顧客 客", &["customer", "contact"]),
    ("連絡先", &["contact"]),
    ("会社 企業", &["company"]),
    ("商談 案件", &["deal"]),
    ("請求書 請求", &["invoice"]),
    ("支払 決済", &["payment"]),
    ("注文", &["order"]),
    ("商品 製品", &["product"]),
    ("在庫", &["inventory"]),
    ("定期購入 サブスクリプション", &["subscription"]),
    ("口座 アカウント", &["account"]),
    ("残高", &["balance"]),
    ("経費", &["expense"]),
    ("荷物 配送 追跡", &["tracking", "shipment"]),
    ("ラベル", &["label"]),
    ("当番", &["oncall", "on-call"]),
    ("アラート 警報", &["alert"]),
    ("障害 インシデント", &["incident"]),
    ("ブランチ", &["branch"]),
    ("リポジトリ", &["repository", "repo"]),
    ("リリース", &["release"]),
    ("アンケート 調査", &["survey"]),
    ("回答", &["response"]),
    ("フォーム", &["form"]),
    ("画像 写真", &["image", "photo"]),
    ("動画 ビデオ", &["video"]),
    ("音楽 曲", &["music", "track"]),
    ("天気 気温 予報", &["weather", "forecast"]),
    ("地図", &["map"]),
    ("道順 経路", &["directions"]),
    ("ニュース 見出", &["news", "headline"]),
    ("時間", &["time"]),
    ("テンプレート", &["template"]),
    ("候補者 応募者", &["candidate"]),
    ("文字 テキスト", &["text"]),
    ("音声", &["speech", "audio"]),
    ("サーバー", &["server"]),
    ("パスワード", &["password"]),
    ("スラック", &["slack"]),
    ("ノーション", &["notion"]),
    ("ギットハブ", &["github"]),
    ("英語 日本語 言語", &["language"]),
];

/// Words of German and Spanish that tell nothing, folded; those that are English words too are
/// left out. Sorted.
const STOPWORDS: &[&str] = &[
    "alle", "auf", "aus", "bei", "bitte", "como", "con", "cual", "das", "dass", "de", "del", "dem",
    "den", "der", "dich", "diesen", "dieser", "dieses", "dir", "donde", "ein", "eine", "einem",
    "einen", "einer", "eines", "el", "en", "es", "esta", "este", "esto", "fur", "gibt", "habe",
    "haben", "hace", "hay", "heute", "hoy", "ich", "im", "ins", "ist", "la", "las", "los",
    "manana", "meine", "meinem", "meinen", "meiner", "mich", "mir", "mis", "mit", "morgen", "nach",
    "nicht", "oder", "para", "por", "que", "sich", "sind", "sobre", "tengo", "todos", "una", "und",
    "uns", "unser", "vom", "von", "wann", "werden", "wie", "wird", "wo", "zu", "zum", "zur",
];

/// Whether a folded word tells nothing in German or Spanish.
pub(super) fn is_stopword(word: &str) -> bool {
    STOPWORDS.binary_search(&word).is_ok()
}

/// The dictionary, by the stem that each language gives a word.
pub(super) struct Languages {
    german: TextAnalyzer,
    spanish: TextAnalyzer,
    /// By the word as it stands in the dictionary.
    words: HashMap<&'static str, English>,
    german_stems: HashMap<String, English>,
    spanish_stems: HashMap<String, English>,
}

/// English words that stand for one word.
pub(super) type English = &'static [&'static str];

impl Languages {
    pub(super) fn new() -> Self {
        let mut german = stemmer(Language::German);
        let mut spanish = stemmer(Language::Spanish);
        let stems = |entries: &[LanguageEntry], language: &mut TextAnalyzer| {
            let mut stems = HashMap::new();
            for (list, english) in entries {
                for word in list.split(' ') {
                    stems.entry(stem(language, word)).or_insert(*english);
                }
            }
            stems
        };
        let mut words = HashMap::new();
        for (list, english) in GERMAN.iter().chain(SPANISH).chain(JAPANESE) {
            for word in list.split(' ') {
                words.entry(word).or_insert(*english);
            }
        }
        Self {
            words,
            german_stems: stems(GERMAN, &mut german),
            spanish_stems: stems(SPANISH, &mut spanish),
            german,
            spanish,
        }
    }

    /// What stands for a word that is in the dictionary as it is written. None of them is English.
    pub(super) fn exact(&self, word: &str) -> English {
        self.words.get(word).copied().unwrap_or(&[])
    }

    /// What stands for a form of a German or Spanish word. An English word may look like one.
    pub(super) fn form(&mut self, word: &str) -> English {
        if word.len() < FORM_BYTES_MIN || !word.is_ascii() {
            return &[];
        }
        let german = stem(&mut self.german, word);
        if let Some(english) = self.german_stems.get(&german) {
            return english;
        }
        let spanish = stem(&mut self.spanish, word);
        self.spanish_stems.get(&spanish).copied().unwrap_or(&[])
    }

    /// Cuts a word in which Japanese stands into the words to look for: runs of other letters as
    /// they are, of Kanji and Katakana the longest words that are known, Hiragana left out.
    pub(super) fn cut(&self, token: &str) -> Option<Vec<String>> {
        if !token.chars().any(|c| script(c) != WritingSystem::Other) {
            return None;
        }
        let chars: Vec<char> = token.chars().collect();
        let mut cut = Vec::new();
        let mut from = 0;
        while from < chars.len() {
            let kind = script(chars[from]);
            let run = chars[from..]
                .iter()
                .take_while(|c| script(**c) == kind)
                .count();
            match kind {
                WritingSystem::Other => cut.push(chars[from..from + run].iter().collect()),
                WritingSystem::Hiragana => {}
                WritingSystem::Kanji | WritingSystem::Katakana => {
                    self.longest(&chars[from..from + run], &mut cut)
                }
            }
            from += run;
        }
        Some(cut)
    }

    fn longest(&self, run: &[char], cut: &mut Vec<String>) {
        let mut unknown = String::new();
        let mut from = 0;
        while from < run.len() {
            let most = JAPANESE_CHARS_MAX.min(run.len() - from);
            let known = (1..=most).rev().find_map(|length| {
                let word: String = run[from..from + length].iter().collect();
                self.words.contains_key(&*word).then_some((word, length))
            });
            match known {
                Some((word, length)) => {
                    if !unknown.is_empty() {
                        cut.push(std::mem::take(&mut unknown));
                    }
                    cut.push(word);
                    from += length;
                }
                None => {
                    unknown.push(run[from]);
                    from += 1;
                }
            }
        }
        if !unknown.is_empty() {
            cut.push(unknown);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WritingSystem {
    Hiragana,
    Katakana,
    Kanji,
    Other,
}

fn script(c: char) -> WritingSystem {
    match c {
        '\u{3041}'..='\u{309f}' => WritingSystem::Hiragana,
        '\u{30a0}'..='\u{30ff}' => WritingSystem::Katakana,
        '\u{3005}' | '\u{4e00}'..='\u{9fff}' => WritingSystem::Kanji,
        _ => WritingSystem::Other,
    }
}

fn stemmer(language: Language) -> TextAnalyzer {
    TextAnalyzer::builder(RawTokenizer::default())
        .filter(Stemmer::new(language))
        .build()
}

fn stem(language: &mut TextAnalyzer, word: &str) -> String {
    let mut stream = language.token_stream(word);
    if stream.advance() {
        stream.token().text.clone()
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{GERMAN, Languages, SPANISH, STOPWORDS};

    #[test]
    fn lists_are_written_as_they_are_looked_up() {
        assert!(STOPWORDS.is_sorted());
        for (words, english) in GERMAN.iter().chain(SPANISH) {
            assert!(
                words.bytes().all(|b| b.is_ascii_lowercase() || b == b' '),
                "{words}"
            );
            assert!(!english.is_empty(), "{words}");
        }
    }

    #[test]
    fn forms_of_a_word_are_understood() {
        let mut languages = Languages::new();
        for (word, english) in [
            ("rechnungen", "invoice"),
            ("dateien", "file"),
            ("facturas", "invoice"),
            ("reuniones", "meeting"),
            ("請求書", "invoice"),
        ] {
            let found = match languages.exact(word) {
                [] => languages.form(word),
                exact => exact,
            };
            assert!(found.contains(&english), "{word}");
        }
        assert!(languages.form("xyzzy").is_empty());
    }

    #[test]
    fn japanese_is_cut_into_words() {
        let languages = Languages::new();
        for (token, expected) in [
            (
                "Slackでチームにメッセージを送る",
                &["Slack", "チーム", "メッセージ", "送"][..],
            ),
            ("東京の天気", &["東京", "天気"]),
            ("新規請求書作成", &["新規", "請求書", "作成"]),
        ] {
            assert_eq!(languages.cut(token).expect("it is Japanese"), expected);
        }
        assert_eq!(languages.cut("slack"), None);
    }
}
