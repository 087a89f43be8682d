//! The words, in lower case. How much one counts depends on how often it is a noun in names of published
//! descriptions.

/// Verbs that only ask. In front of a name or summary they say what the whole does.
pub(super) const READING: &str = "get gets list lists listing search searches find finds read reads fetch fetches \
    count counts lookup query queries check checks describe describes show shows view views retrieve retrieves \
    download downloads preview previews validate validates verify verifies calculate calculates compute computes \
    estimate estimates compare compares convert extract explain browse discover suggest autocomplete resolve filter \
    scan is has can exists exist head poll ping inspect return returns obtain obtains see display displays analyze \
    explore enumerate load loads render stat diff peek determine determines watch wait stream gives give provides \
    provide info export exports tells tell";

/// Verbs by which a POST may be a read.
pub(super) const ASKING: &str = "get list search find query count lookup fetch describe read preview validate check calculate estimate";

/// Verbs that are never a noun: they count wherever a verb can be.
pub(super) const SURE: &str = "delete remove destroy erase purge revoke terminate create insert replace logout \
    unsubscribe unregister deregister deactivate unlink unpublish uninstall unlock unassign unban unmute unfollow \
    unlike unstar unpin unarchive undelete unenroll unmark unblock unshare unbind unmount unpair unsuspend deprovision \
    deauthorize untrash delist wipe truncate kill reboot regenerate invalidate overwrite upsert rename reassign resend \
    resubmit disconnect detach republish rerun reinstall modify execute terminate enqueue dequeue impersonate redeem \
    resubscribe discard abort expunge evict prune obliterate";

/// Verbs that are seldom a noun.
pub(super) const LIKELY: &str = "add update reset cancel send submit approve reject disapprove enable disable \
    activate reactivate restore start stop restart publish upload save edit mark pause confirm decline acknowledge \
    dismiss register subscribe invite retry refresh lock archive ban mute toggle suspend attach enroll assign append \
    provision install shutdown apply rollback revert undo deploy migrate clear drop flush rotate increment decrement \
    promote demote trash grant expire move merge reload renew write reindex rebuild unset withdraw authorize run \
    trigger synchronize clone import resume accept deny quit leave join buy sell pay purchase vote login signup sync \
    reopen close touch capture claim refund reserve optout checkin cleanup pop consume empty abandon reseed wake arm \
    disarm drain reap store upvote downvote redeploy rearm recreate commit";

/// Verbs that are more often a noun.
pub(super) const NOUNS: &str = "set block order transfer share pin star like book copy link patch post put fork \
    build charge release open switch mount connect checkout duplicate follow extend rate rebase fire sign bind pair \
    make do process schedule import backup repair transition call dial push deposit change ack nack";

/// Verbs after which something is gone.
pub(super) const REMOVING: &str = "delete remove destroy erase purge revoke terminate drop wipe truncate expunge evict prune obliterate";

/// Verbs that read if what they run is a question.
pub(super) const RUNNING: &str =
    "run runs execute executes invoke invokes start starts perform performs";
/// Verbs, and languages in place of one, by which a statement is sent.
pub(super) const QUERYING: &str = "query exec eval evaluate sql cypher flux graphql";
/// What such a question is called.
pub(super) const QUESTIONS: &str = "function functions query queries search searches report reports analysis calculation lookup check";

pub(super) const JOINING: &str = "and or then";

/// After a word that may be a noun, these make it a verb: `lock the door`.
pub(super) const DETERMINERS: &str = "a an the this that these those all any each every your his her its their my our \
    one it them multiple several existing specified given current selected new me up out off specific user users";

/// After a verb at the end of a name: `delete_all`, `remove_by_id`.
pub(super) const PREPOSITIONS: &str =
    "by all for from in many one bulk batch with using at everything";

/// Nouns that take a verb in front as an attribute: `send_limits`, `update_status`.
pub(super) const ATTRIBUTED: &str = "status state statuses info information detail details history limit limits quota \
    quotas count counts stats statistics setting settings option options schema schemas metadata log logs date dates \
    time times rate rates fee fees reason reasons template templates url urls uri link links token event events list \
    lists summary report reports id ids type types number numbers name names config configuration key keys progress \
    result results page pages queue policy policies rule rules requirements capabilities capability permissions window \
    windows timeline plan plans form forms job jobs task tasks request requests operation operations activity \
    activities record records metrics data notes note items documents groups map code codes books day days value \
    values price prices cost costs points ups";

/// Words in front of a verb that say how it is done.
pub(super) const MANNERS: &str =
    "batch bulk mass multi async force soft hard permanently immediately deprecated beta api";

/// Words behind a verb that frameworks add.
pub(super) const ENDINGS: &str = "get head json xml php action endpoint api";

/// Verbs that names run together with what they change: `deleteuser`.
pub(super) const RUN_TOGETHER: &str = "delete remove destroy create update unsubscribe";

/// Two words that are one verb.
pub(super) const TWO_WORDS: &[(&str, &str, &str)] = &[
    ("log", "out", "logout"),
    ("sign", "out", "logout"),
    ("log", "off", "logout"),
    ("sign", "off", "logout"),
    ("log", "in", "login"),
    ("sign", "in", "login"),
    ("sign", "up", "signup"),
    ("opt", "out", "optout"),
    ("check", "out", "checkout"),
    ("check", "in", "checkin"),
    ("un", "subscribe", "unsubscribe"),
    ("shut", "down", "shutdown"),
    ("roll", "back", "rollback"),
    ("clean", "up", "cleanup"),
    ("turn", "on", "toggle"),
    ("turn", "off", "toggle"),
    ("power", "on", "toggle"),
    ("power", "off", "toggle"),
    ("add", "on", "addon"),
    ("add", "ons", "addons"),
];
/// One word that is another.
pub(super) const SAME: &[(&str, &str)] = &[
    ("logoff", "logout"),
    ("signout", "logout"),
    ("signoff", "logout"),
    ("signin", "login"),
];
