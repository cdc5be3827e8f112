"""Which tests try which attack: the rows of the list of attacks by their ids, in words of our own.

A note says where an expectation is met in another way than the list has it, and why.
"""

from __future__ import annotations

from dataclasses import dataclass

READ = "wiki/test_attacks_read.py"
WRITE = "wiki/test_attacks_write.py"
CONFINED = "vault/test_confined.py"
PATHS = "vault/test_paths.py"
READING = "vault/test_reading.py"
WRITER = "vault/test_writer.py"
PROPERTIES = "vault/test_frontmatter.py"
COMPOSE = "vault/test_frontmatter_compose.py"
EDIT = "vault/test_frontmatter_edit.py"
TIME = "vault/test_markdown_time.py"
CANARY = "promises/test_p26_a_canary_outside.py"
SWAPPED = "promises/test_p26_a_folder_swapped_while_reading.py"
REST = "wiki/api/"
QUEUE = "reviews/api/"
DESK = "reviews/test_admin.py"
ADMIN = "promises/test_p26_the_admin_shows_text.py"
BROWSER = "browser/test_hostile.py"
SLOW = "promises/test_p26_slow_and_many.py"
MORE = "promises/test_p26_kinds_of_attacks.py"
HTTP = "mcpapi/test_attacks_http.py"
VAULT = "mcpapi/test_attacks_vault.py"
STDIO = "mcpapi/test_attacks_stdio.py"
LOGS = "mcpapi/test_attacks_logs.py"
FUZZ = "fuzz/"


@dataclass(frozen=True)
class Attack:
    """What is tried; ``tests`` are ``file::function`` below tests/."""

    what: str
    tests: tuple[str, ...]
    note: str = ""


def row(what: str, *tests: str, note: str = "") -> Attack:
    return Attack(what, tests, note)


EVERYWHERE = f"{CANARY}::test_no_path_leads_out"
REFUSED = f"{READ}::test_a_refused_path"
ALIKE = f"{READ}::test_a_refused_path_says_nothing_of_what_is_there"
TEXT = f"{CONFINED}::test_no_text_leads_outside"
ODD = f"{READ}::test_an_odd_name_is_only_a_name"
UNREADABLE = f"{PROPERTIES}::test_what_can_not_be_read_is_one_flag_with_a_reason_of_our_own"
BOMBS = "vault/test_torture.py::test_bombs"
LINEAR = f"{TIME}::test_time_is_linear_in_the_text"
TOKENS = f"{REST}test_access.py"

ATTACKS: dict[str, Attack] = {
    # --- paths to read ---
    "A001": row("climbing out by two dots", REFUSED, ALIKE, TEXT, EVERYWHERE),
    "A002": row("a path from the root of the disk", REFUSED, EVERYWHERE),
    "A004": row("out, and into a folder named like ours", REFUSED, EVERYWHERE),
    "A005": row("out and back in again", REFUSED, note="any `..` is refused, also one that would end inside"),
    "A006": row("a link to a file outside", f"{READ}::test_a_symlink_is_not_followed", EVERYWHERE),
    "A007": row("a linked folder on the way", f"{READ}::test_a_folder_that_is_a_symlink_is_not_entered", EVERYWHERE),
    "A009": row("links in a circle", f"{READ}::test_symlinks_in_a_circle", EVERYWHERE),
    "A010": row("a folder exchanged with a link meanwhile", f"{SWAPPED}::test_no_read_leaks"),
    "A011": row("ways through /proc", REFUSED, EVERYWHERE),
    "A012": row(
        "a link into /proc", f"{CONFINED}::test_symlinks_have_one_answer_whether_or_not_the_target_exists", EVERYWHERE
    ),
    "A014": row("another disk mounted below the root", f"{CONFINED}::test_another_mount_is_not_entered"),
    "A015": row("a NUL in a path", REFUSED, f"{REST}test_sources.py::test_paths_that_lead_elsewhere", EVERYWHERE),
    "A016": row("half a surrogate pair in a path", REFUSED, EVERYWHERE),
    "A017": row("names too long in bytes", REFUSED, f"{PATHS}::test_refused_paths_share_one_answer"),
    "A019": row("nothing, blanks, a dot, a slash", REFUSED),
    "A020": row("a folder for a file", f"{READ}::test_folders_are_not_listed"),
    "A021": row("a slash at the end", REFUSED),
    "A022": row("doubled slashes and dots in between", REFUSED, f"{PATHS}::test_an_allowed_path_has_one_spelling"),
    "A024": row("escapes of escapes", ODD, f"{REST}test_sources.py::test_a_path_is_decoded_once"),
    "A025": row("backslashes", REFUSED, EVERYWHERE),
    "A026": row("drives, shares, devices, addresses", REFUSED, EVERYWHERE),
    "A027": row(
        "names that Windows keeps for devices",
        f"{PATHS}::test_names_that_are_not_written",
        f"{CONFINED}::test_names_that_other_systems_forbid_can_be_read",
    ),
    "A029": row(
        "short names made by a file system", f"{CONFINED}::test_an_alias_made_by_the_file_system_is_not_found", ODD
    ),
    "A030": row("a hidden folder in another case", REFUSED),
    "A031": row(
        "two forms of one name",
        f"{READ}::test_two_forms_of_one_name_are_two_files",
        f"{READ}::test_a_name_is_found_in_its_other_form",
    ),
    "A032": row("characters that another form turns into dots", ODD, EVERYWHERE),
    "A034": row("hidden files and folders", REFUSED, ALIKE),
    "A035": row("a file .git that points elsewhere", f"{CANARY}::test_a_scan_goes_past_what_leads_out", REFUSED),
    "A036": row(
        "a pipe", f"{READ}::test_what_is_no_plain_file", f"{CONFINED}::test_what_is_not_a_file_is_said_at_once"
    ),
    "A037": row("a socket, a device", f"{READ}::test_what_is_no_plain_file", f"{MORE}::test_a_device_is_no_file"),
    "A039": row("a file that grows for ever", f"{READING}::test_a_file_that_grows_for_ever_is_read_to_a_bound"),
    "A040": row(
        "bytes that are no text", "wiki/test_reading.py::test_what_is_not_text", "vault/test_pages.py::test_encodings"
    ),
    "A041": row(
        "a placeholder of a cloud drive",
        f"{READING}::test_a_placeholder_of_a_cloud_drive_is_not_downloaded",
        f"{READ}::test_a_file_that_is_only_in_the_cloud",
        f"{WRITE}::test_a_placeholder_of_the_cloud_is_not_written_over",
    ),
    "A042": row(
        "invisible characters in a name",
        ODD,
        f"{WRITE}::test_a_title_that_looks_like_another_or_like_nothing",
        "wiki/test_admin.py::test_names_are_shown_as_they_are",
    ),
    # --- writing ---
    "A044": row(
        "a new file below a linked folder",
        f"{WRITE}::test_a_symlink_on_the_way_leads_nowhere",
        f"{SWAPPED}::test_nothing_is_made_outside",
        EVERYWHERE,
    ),
    "A045": row(
        "a version that is not the last",
        "promises/test_p04_stale_base.py::test_every_stale_write_is_refused",
        f"{REST}test_pages.py::test_a_stale_or_weak_tag_keeps_the_text_as_a_draft",
    ),
    "A046": row(
        "no version named",
        f"{REST}test_pages.py::test_without_if_match_nothing_is_changed",
        "wiki/test_write_page.py::test_an_edit_made_outside_is_not_overwritten_unseen",
        "wiki/test_write_page.py::test_an_update_needs_no_base_while_nobody_else_wrote",
    ),
    "A047": row("many create one page at once", "promises/test_p06_exclusive_create.py"),
    "A049": row("titles of one slug", "wiki/test_write_page.py::test_titles_on_one_slug_get_numbers"),
    "A050": row("a title with lines of its own", f"{WRITE}::test_a_title_can_not_bring_properties_of_its_own"),
    "A051": row("a title full of YAML's marks", f"{WRITE}::test_a_title_full_of_marks_reads_back_as_itself"),
    "A052": row("a body that looks like frontmatter", f"{WRITE}::test_a_body_that_looks_like_frontmatter_stays_body"),
    "A054": row("frontmatter that does not parse", f"{WRITE}::test_frontmatter_that_does_not_parse_is_left_alone"),
    "A055": row("other line ends", f"{WRITE}::test_windows_line_ends_are_neither_read_nor_written_as_text"),
    "A056": row("comments, quotes, order, dates", f"{WRITE}::test_what_is_not_touched_keeps_its_bytes"),
    "A057": row("marks of replacements", f"{WRITE}::test_content_is_written_literally"),
    "A059": row(
        "names of copies and temporary files",
        f"{WRITE}::test_conflict_copies_are_no_pages",
        f"{PATHS}::test_names_that_are_not_written",
    ),
    "A060": row("files that are no pages, or are obeyed", f"{WRITE}::test_a_path_that_no_page_may_have"),
    "A061": row(
        "a giant of links",
        f"{WRITE}::test_a_body_of_nothing_but_links",
        f"{REST}test_bodies.py::test_a_page_over_the_limit",
        LINEAR,
    ),
    "A062": row(
        "characters that no file keeps",
        "wiki/test_write_rules.py::test_content_that_no_file_can_keep",
        f"{REST}test_bodies.py::test_characters_that_no_file_can_keep",
        f"{MORE}::test_line_ends_that_are_none_are_kept_as_written",
        note="NUL and half pairs are refused; a lone CR and U+2028 are text for both databases and are kept",
    ),
    "A064": row(
        "the longest name",
        f"{WRITE}::test_a_name_as_long_as_names_can_be",
        f"{WRITER}::test_the_longest_name_can_be_written",
    ),
    "A065": row(
        "mode and owner of a file",
        f"{WRITE}::test_the_files_mode_stays",
        f"{WRITER}::test_another_users_file_is_refused",
        f"{WRITER}::test_the_owner_is_kept_where_the_system_lets_us",
    ),
    "A066": row(
        "a file with two names, a link, a mount",
        f"{WRITE}::test_a_file_with_a_second_name_is_not_parted_from_it",
        f"{WRITE}::test_a_page_that_has_become_a_symlink",
        f"{WRITER}::test_a_mount_point_is_refused",
    ),
    "A067": row(
        "a picture that tells somebody",
        "wiki/test_write_page.py::test_remote_content_is_named_and_kept",
        f"{ADMIN}::test_nothing_of_a_page_is_loaded_or_run",
        f"{BROWSER}::test_pages",
        f"{MORE}::test_nothing_that_a_page_names_is_fetched",
    ),
    # --- what is parsed ---
    "A069": row("anchors that multiply", BOMBS, f"{PROPERTIES}::test_no_block_costs_more_than_a_moment"),
    "A070": row("a value that holds itself", BOMBS, UNREADABLE),
    "A071": row("tags that would run something", UNREADABLE, f"{MORE}::test_no_tag_of_yaml_runs_or_makes_anything"),
    "A072": row("nesting", BOMBS, UNREADABLE),
    "A074": row("keys that are no text", UNREADABLE, f"{MORE}::test_no_tag_of_yaml_runs_or_makes_anything"),
    "A075": row("frontmatter that is no mapping", UNREADABLE),
    "A076": row("a key given twice", UNREADABLE, f"{WRITE}::test_frontmatter_that_does_not_parse_is_left_alone"),
    "A077": row(
        "types that nobody meant",
        f"{PROPERTIES}::test_a_scalar_is_what_yaml_1_2_says_and_never_less_than_was_written",
        f"{PROPERTIES}::test_keys_are_always_text",
        f"{REST}test_finding.py::test_properties_of_every_kind_are_valid_json",
    ),
    "A079": row("brackets without an end", LINEAR, f"{FUZZ}test_time.py::test_work_grows_no_faster_than_the_text"),
    "A080": row(
        "a block that never ends",
        f"{PROPERTIES}::test_splitting_is_linear",
        f"{FUZZ}test_time.py::test_work_grows_no_faster_than_the_text",
    ),
    "A081": row("marks upon marks", LINEAR, f"{FUZZ}test_time.py::test_work_grows_no_faster_than_the_text"),
    "A082": row(
        "a block that is not closed",
        f"{PROPERTIES}::test_the_block_is_found_line_by_line",
        f"{EDIT}::test_a_change_never_makes_a_second_block_or_a_new_key",
    ),
    # --- the admin ---
    "A084": row(
        "addresses that run",
        f"{ADMIN}::test_nothing_of_a_page_is_loaded_or_run",
        f"{BROWSER}::test_pages",
        f"{BROWSER}::test_the_queue",
        f"{DESK}::test_nothing_that_a_page_or_an_agent_says_runs",
    ),
    "A085": row(
        "pictures that animate themselves into scripts",
        f"{ADMIN}::test_nothing_of_a_page_is_loaded_or_run",
        f"{BROWSER}::test_pages",
        f"{BROWSER}::test_the_queue",
        note="the admin shows pages as text; the reader draws them by a list of what is allowed, without svg and math",
    ),
    "A086": row(
        "pictures from elsewhere",
        f"{ADMIN}::test_nothing_of_a_page_is_loaded_or_run",
        f"{BROWSER}::test_pages",
        f"{BROWSER}::test_the_queue",
        f"{ADMIN}::test_each_page_has_its_policy",
    ),
    "A087": row(
        "overlays, forms, bases",
        f"{ADMIN}::test_nothing_of_a_page_is_loaded_or_run",
        f"{BROWSER}::test_pages",
        f"{BROWSER}::test_the_queue",
        f"{ADMIN}::test_each_page_has_its_policy",
    ),
    "A089": row(
        "all of a list that has changed",
        f"{DESK}::test_select_all_means_what_was_shown",
        "promises/test_p22_bulk_touches_what_was_seen.py::test_nothing_unseen_is_touched_whatever_happened_in_between",
    ),
    "A090": row(
        "edits by position",
        f"{DESK}::test_rows_are_neither_added_nor_edited_nor_deleted",
        f"{ADMIN}::test_no_list_is_edited_in_place",
    ),
    "A091": row(
        "people without the permission, ids of others",
        f"{DESK}::test_who_may_see_and_who_may_decide",
        "wiki/test_admin.py::test_only_those_who_may_change_tokens_revoke_them",
        f"{ADMIN}::test_ids_of_another_vault_are_not_decided",
    ),
    "A092": row(
        "a form sent twice",
        f"{DESK}::test_a_second_submit_changes_nothing_more",
        f"{DESK}::test_a_decision_sent_twice_is_taken_once",
    ),
    "A094": row(
        "formulas in an export",
        f"{MORE}::test_nothing_is_exported_that_a_spreadsheet_opens",
        note="there is no export that a spreadsheet opens: all are lines of JSON",
    ),
    # --- decisions ---
    "A095": row(
        "decided already",
        "promises/test_p21_a_review_is_decided_once.py",
        f"{QUEUE}test_deciding.py::test_a_decision_is_never_changed",
    ),
    "A096": row(
        "the page has changed since",
        f"{QUEUE}test_deciding.py::test_an_edit_is_written_on_the_version_it_was_made_from_or_not_at_all",
        note="the code is `conflict` (409), with the three texts, as everywhere else; no code is for reviews alone",
    ),
    "A097": row(
        "the page is gone or elsewhere",
        "reviews/test_creating.py::test_an_edit_of_a_page_that_is_gone_is_a_conflict",
        "reviews/test_creating.py::test_an_edit_follows_the_page_where_it_was_moved",
        note="the code is `conflict` (409), whose texts say that nothing stands there",
    ),
    "A099": row(
        "steps that there are not",
        f"{QUEUE}test_deciding.py::test_an_action_that_there_is_not",
        f"{QUEUE}test_deciding.py::test_an_action_that_does_not_fit",
        f"{QUEUE}test_deciding.py::test_a_status_that_nobody_can_choose",
    ),
    "A100": row(
        "many ids, twice, unknown, none, too many",
        f"{QUEUE}test_bulk.py::test_an_id_given_twice_counts_once_however_it_is_spelled",
        f"{QUEUE}test_bulk.py::test_one_to_two_hundred_ids_as_they_are_given",
        f"{QUEUE}test_bulk.py::test_bulk_answers_item_by_item",
    ),
    "A101": row("a filter for ids", f"{QUEUE}test_bulk.py::test_a_filter_is_not_taken"),
    "A102": row(
        "sent again with its key",
        "promises/test_p23_a_retry_is_safe.py",
        f"{REST}test_idempotency.py::test_a_key_stands_for_one_request",
        f"{REST}test_idempotency.py::test_while_the_first_runs_the_others_wait",
    ),
    "A104": row(
        "an agent that was told to approve all",
        "mcpapi/test_pace.py::test_an_agent_that_decides_hundreds_is_slowed_through_every_door",
        f"{REST}test_rate_limits.py::test_five_hundred_decisions_spread_over_a_minute_are_slowed",
        f"{TOKENS}::test_a_vault_that_is_served_read_only_refuses_every_change",
        "mcpapi/test_reviews.py::test_read_only_refuses_filing_and_decisions_and_lets_listing_be",
        f"{DESK}::test_a_read_only_vault_decides_nothing",
        f"{QUEUE}test_bulk.py::test_two_hundred_ids",
    ),
    # --- REST ---
    "A105": row(
        "tokens that are none, old, or in the address",
        f"{TOKENS}::test_nobody_gets_anything_without_a_token",
        f"{TOKENS}::test_tokens_that_are_no_longer_good",
        f"{TOKENS}::test_a_token_in_the_address_is_never_looked_at",
        f"{LOGS}::test_the_door_logs_nothing_of_what_is_thrown_at_it",
    ),
    "A106": row(
        "more than the token's scope, another vault",
        f"{TOKENS}::test_a_token_that_reads_changes_nothing",
        f"{QUEUE}test_access.py::test_what_each_scope_may",
        f"{MORE}::test_no_argument_chooses_a_vault",
    ),
    "A107": row("tokens that can not be compared", f"{TOKENS}::test_what_is_no_token_is_refused"),
    "A109": row(
        "fields that are not the caller's",
        f"{REST}test_bodies.py::test_keys_that_nobody_asked_for",
        f"{QUEUE}test_filing.py::test_nothing_else_of_an_item_can_be_set",
        "wiki/test_write_rules.py::test_keys_of_ours_that_come_back_unchanged_are_no_attempt",
    ),
    "A110": row(
        "tags of every form",
        f"{REST}test_pages.py::test_a_stale_or_weak_tag_keeps_the_text_as_a_draft",
        f"{REST}test_pages.py::test_what_is_no_list_of_tags_is_refused",
        f"{REST}test_pages.py::test_a_tag_that_matches_lets_the_change_through",
    ),
    "A111": row(
        "a list that changes while it is read",
        f"{REST}test_lists.py::test_pages_made_or_deleted_meanwhile_neither_repeat_nor_hide_others",
        f"{REST}test_lists.py::test_a_cursor_serves_only_the_list_that_gave_it",
        f"{QUEUE}test_queue.py::test_parts_of_a_list_neither_repeat_nor_hide",
    ),
    "A112": row(
        "bodies full of tricks",
        "vault/test_strict_json.py::test_any_bytes_are_an_object_or_refused",
        f"{REST}test_bodies.py::test_what_is_no_json_object",
        f"{REST}test_bodies.py::test_a_body_over_the_limit",
        f"{REST}test_bodies.py::test_a_compressed_body_is_not_unpacked",
        f"{REST}test_bodies.py::test_only_json_is_taken",
    ),
    "A114": row(
        "queries that are commands",
        f"{REST}test_finding.py::test_operators_are_words",
        f"{REST}test_finding.py::test_queries_that_are_refused",
        f"{REST}test_bodies.py::test_query_parameters_of_lists",
        "wiki/test_search.py::test_no_query_fails_and_scores_are_in_order",
    ),
    "A115": row(
        "queries that are expressions",
        "wiki/test_search.py::test_no_query_fails_and_scores_are_in_order",
        "wiki/test_search_text.py::test_hostile_texts_take_linear_time",
        note="no expression of a caller is ever compiled; a query is words",
    ),
    "A116": row(
        "addresses to be fetched",
        f"{MORE}::test_nothing_that_a_page_names_is_fetched",
        f"{MORE}::test_no_door_sets_an_address",
        "mcpapi/oauth/test_documents.py::test_no_connection_is_made_to_a_host_that_is_not_listed_or_not_public",
        "wiki/vectors/test_endpoint.py::test_redirects_are_not_followed",
    ),
    "A117": row(
        "very many requests, very slow ones",
        f"{REST}test_rate_limits.py::test_requests_beyond_the_limit_wait_as_long_as_they_are_told",
        f"{SLOW}::test_many_slow_bodies_hold_up_nobody_and_are_ended",
        "synapse/test_slow_headers.py::test_a_header_a_byte_at_a_time_does_not_keep_it_open",
        "mcpapi/test_attacks_connections.py::test_a_body_a_byte_at_a_time_ends_in_an_answer",
    ),
    "A119": row(
        "pages of other sites", f"{TOKENS}::test_no_other_site_is_let_in", f"{HTTP}::test_no_preflight_is_granted"
    ),
    # --- /mcp ---
    "A120": row("other origins", f"{HTTP}::test_no_page_of_another_origin_is_heard"),
    "A121": row(
        "a name that was rebound",
        f"{HTTP}::test_a_name_that_was_rebound_to_this_machine_is_not_served",
        f"{HTTP}::test_it_listens_to_this_machine_only_unless_told_otherwise",
    ),
    "A122": row("no token", f"{HTTP}::test_without_a_token_nothing_is_told"),
    "A124": row("a session of somebody else", f"{VAULT}::test_nobody_gets_anothers_tools_by_their_session"),
    "A125": row("very many beginnings", f"{HTTP}::test_a_flood_of_beginnings_leaves_nothing_behind"),
    "A126": row("headers that say something else", f"{HTTP}::test_headers_and_message_say_one_thing"),
    "A127": row("revisions that there are not", f"{HTTP}::test_headers_and_message_say_one_thing"),
    "A129": row(
        "a client that goes away in a write",
        f"{VAULT}::test_a_write_whose_client_goes_away_is_whole_or_absent",
        "mcpapi/test_attacks_connections.py::test_clients_that_hang_up_leave_whole_pages_or_none",
    ),
    "A130": row("addresses of resources", f"{VAULT}::test_a_resource_is_confined_as_a_tool_is", EVERYWHERE),
    "A131": row(
        "pages that would be tools",
        f"{VAULT}::test_no_page_changes_what_the_tools_say",
        f"{STDIO}::test_the_tools_are_told_in_the_same_bytes_by_every_process",
    ),
    "A132": row(
        "arguments that are options",
        f"{VAULT}::test_an_argument_is_never_an_option_or_a_command",
        f"{HTTP}::test_no_program_is_ever_started_by_what_serves",
        note="a leading dash is a name like another: nothing starts a program that could take it for an option",
    ),
    "A134": row(
        "the end in the middle of a call", f"{STDIO}::test_an_end_in_the_middle_of_a_write_leaves_all_of_it_or_nothing"
    ),
    "A135": row(
        "several servers of one vault",
        "mcpapi/test_many_processes.py::test_processes_that_write_one_vault_lose_nothing",
        "promises/test_p05_acknowledged_is_not_lost.py",
    ),
    # --- logs and settings ---
    "A136": row(
        "secrets in the log",
        f"{LOGS}::test_a_server_logs_nothing_of_a_hostile_run",
        "synapse/test_logs.py::test_secrets_are_blotted_out",
    ),
    "A137": row("lines that are forged", "synapse/test_logs.py::test_no_message_can_forge_a_second_line"),
    "A139": row(
        "settings that nobody made",
        "mcpapi/test_attacks_defaults.py::test_a_server_that_nobody_configured_is_closed",
        "mcpapi/test_attacks_defaults.py::test_the_first_password_is_nobody_elses_and_the_first_token_only_reads",
        "synapse/test_serve.py::test_debug_is_refused_on_an_open_address",
        note="where nothing is set it starts, closed: a key and a password of its own, this machine alone",
    ),
}
