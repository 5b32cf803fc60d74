/* SPDX-License-Identifier: MIT */
/* Shell completion scripts, generated from the option tables. */
#include "cli/opt.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

/* True for options that completion offers. Headings, and options without help, are not offered. */
static bool is_shown(const struct opt *o)
{
	return (o->letter || o->name) && o->help;
}

/* Returns the name of `c` without "sctrace": "compare", "bench syscall", or "" for "sctrace" itself. */
static const char *subcommand(const struct opt_command *c)
{
	const char *space = strchr(c->name, ' ');
	return space ? space + 1 : "";
}

/* True for a subcommand of a command, such as "bench syscall". */
static bool is_inner(const struct opt_command *c)
{
	return strchr(subcommand(c), ' ') != NULL;
}

/* Appends the names of all commands, or of all subcommands, each between two `quote`s, with `between` between. */
static void add_subcommands(struct buf *out, const struct opt_command *const *commands, size_t n, bool inner,
			    const char *quote, const char *between)
{
	const char *sep = "";
	for (size_t i = 0; i < n; i++) {
		if (!*subcommand(commands[i]) || is_inner(commands[i]) != inner)
			continue;
		buf_addf(out, "%s%s%s%s", sep, quote, subcommand(commands[i]), quote);
		sep = between;
	}
}

/*
 * Finds the first word in *words that is the long name of an option of the table. Returns that option, and moves *words
 * to the end of the word. Returns NULL if no such word is left.
 */
static const struct opt *next_named(const struct opt *table, const char **words)
{
	for (;;) {
		const char *word = *words + strspn(*words, " ");
		size_t len = strcspn(word, " ");
		*words = word + len;
		if (!len)
			return NULL;
		for (const struct opt *o = table; !opt_is_end(o); o++)
			if (o->name && strlen(o->name) == len && memcmp(o->name, word, len) == 0)
				return o;
	}
}

/* Does the next word belong to the option if the option is written without "="? */
static bool takes_word(const struct opt *o)
{
	return is_shown(o) && o->arg && o->arg[0] != '[';
}

/* Appends the letters of the options that take a word. */
static void add_letters(struct buf *out, const struct opt_command *c)
{
	for (const struct opt *o = c->table; !opt_is_end(o); o++)
		if (takes_word(o) && o->letter)
			buf_addc(out, o->letter);
}

/* Appends the long names of the options that take a word: "--output --engine". */
static void add_long_names(struct buf *out, const struct opt_command *c)
{
	for (const struct opt *o = c->table; !opt_is_end(o); o++)
		if (takes_word(o) && o->name)
			buf_addf(out, "--%s ", o->name);
}

/* Returns how many words the command has: 1 for "sctrace", 3 for "sctrace bench load". */
static int words_in(const struct opt_command *c)
{
	int n = 1;
	for (const char *p = c->name; *p; p++)
		n += *p == ' ';
	return n;
}

static const char *set_of(const struct opt_command *c)
{
	return c->set_words ? c->set_words : "";
}

static const char *words_of(const struct opt *o)
{
	return o->words ? o->words : "";
}

/* Appends `text` for single quotes: `'` becomes '\'', and characters in `special` get a backslash. */
static void add_quoted(struct buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_adds(out, "'\\''");
		else if (strchr(special, *text))
			buf_addf(out, "\\%c", *text);
		else
			buf_addc(out, *text);
	}
}

/* bash: completes the value of -e with names of expressions, such as "trace=", and `set_words`. */
static void bash_expr(struct buf *out, const struct opt_command *c, const struct opt *o)
{
	const char *words = o->words;
	const struct opt *named;
	buf_adds(out, "COMPREPLY=($(compgen -W '");
	while ((named = next_named(c->table, &words)))
		buf_addf(out, "%s= ", named->name);
	buf_addf(out,
		 "' -- \"$cur\")); [[ ${#COMPREPLY[@]} == 1 ]] && compopt -o nospace; local "
		 "names=(\"${COMPREPLY[@]}\")\n"
		 "\t\t_sctrace_list '%s'; COMPREPLY=(\"${names[@]}\" \"${COMPREPLY[@]}\")",
		 set_of(c));
}

static void bash_pattern(struct buf *out, const char *command, const char *dashes, const char *name, size_t len)
{
	for (; *command; command++)
		buf_addf(out, *command == ' ' ? "\\%c" : "%c", *command);
	buf_addf(out, ":%s%.*s", dashes, (int)len, name);
}

/* Writes the branch of the script's case statement for "COMMAND:OPTION". It sets COMPREPLY to the possible values. */
static void bash_value(struct buf *out, const struct opt_command *c, const struct opt *o)
{
	static const char *const actions[] = {
		[COMPLETE_NONE] = ":",
		[COMPLETE_FILE] = "_sctrace_files -f",
		[COMPLETE_DIR] = "_sctrace_files -d",
		[COMPLETE_PID] = "COMPREPLY=($(command ps -eo pid= | command tr -d ' ' | command grep \"^$cur\"))",
		[COMPLETE_USER] = "COMPREPLY=($(compgen -u -- \"$cur\"))",
	};
	const char *command = subcommand(c);
	if (!o->arg || !is_shown(o))
		return;
	buf_adds(out, "\t");
	if (o->letter)
		bash_pattern(out, command, "-", &o->letter, 1);
	if (o->letter && o->name)
		buf_addc(out, '|');
	if (o->name)
		bash_pattern(out, command, "--", o->name, strlen(o->name));
	buf_adds(out, ") ");
	if (o->complete == COMPLETE_WORDS)
		buf_addf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", words_of(o));
	else if (o->complete == COMPLETE_LIST || o->complete == COMPLETE_SET)
		buf_addf(out, "_sctrace_list '%s'", o->complete == COMPLETE_SET ? set_of(c) : words_of(o));
	else if (o->complete == COMPLETE_EXPR)
		bash_expr(out, c, o);
	else
		buf_adds(out, actions[o->complete]);
	buf_adds(out, "; return ;;\n");
}

static void bash_options(struct buf *out, const struct opt_command *c)
{
	buf_addf(out, "\t\t'%s') words='", subcommand(c));
	for (const struct opt *o = c->table; !opt_is_end(o); o++) {
		if (is_shown(o) && o->letter)
			buf_addf(out, "-%c ", o->letter);
		if (is_shown(o) && o->name)
			buf_addf(out, "--%s%s ", o->name, o->arg && o->arg[0] != '[' ? "=" : "");
	}
	buf_adds(out, "-h --help -V --version' ;;\n");
}

/* Writes bash code that finds the command, and the option that the current word belongs to. */
static void bash_context(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	buf_adds(out, "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= words= at=\n"
		      "\t# bash takes \"=\" for a word of its own\n"
		      "\tif [[ $cur == = ]]; then cur=; at=$((COMP_CWORD-1))\n"
		      "\telif [[ $prev == = ]]; then at=$((COMP_CWORD-2)); fi\n"
		      "\tif [[ $at ]]; then\n\t\tprev=${COMP_WORDS[at]}\n"
		      "\t\t# -e NAME=VALUE is --NAME VALUE\n"
		      "\t\t[[ $prev != -* && ${COMP_WORDS[at-1]} == -* ]] && prev=--$prev\n\tfi\n"
		      "\tCOMPREPLY=()\n"
		      "\t# bash keeps the quote that was opened before the word\n"
		      "\t[[ $cur == [\\'\\\"]* ]] && cur=${cur:1}\n"
		      "\tcase ${COMP_WORDS[1]} in ");
	add_subcommands(out, commands, n, false, "", "|");
	buf_adds(out, ") ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]} ;; esac\n"
		      "\tcase $command\\ ${COMP_WORDS[2]} in ");
	add_subcommands(out, commands, n, true, "'", "|");
	buf_adds(out, "'') ((COMP_CWORD > 2)) && command+=\" ${COMP_WORDS[2]}\" ;; esac\n");
}

/*
 * Writes bash functions that find the program in the words, and complete the words of the program. `program` is set to
 * the position of the program. If this is beyond the current word, the current word is the value of an option.
 */
static void bash_program(struct buf *out)
{
	buf_adds(out, "_sctrace_program()\n{\n\tfor ((program = $1; program < COMP_CWORD; program++)); do\n"
		      "\t\tlocal word=${COMP_WORDS[program]}\n"
		      "\t\tcase $word in\n"
		      "\t\t--) ((program++)); return ;;\n"
		      "\t\t--*) [[ \" $3 \" == *\" $word \"* && ${COMP_WORDS[program+1]} != = ]] && ((program++)) ;;\n"
		      "\t\t-?*) [[ $word =~ ^-[^$2]*[$2]$ ]] && ((program++)) ;;\n"
		      "\t\t*) return ;;\n\t\tesac\n"
		      "\t\t# bash takes \"=\" and \":\" for words of their own\n"
		      "\t\twhile [[ ${COMP_WORDS[program+1]} =~ ^[=:\\<\\>]+$ ]]; do ((program += 2)); done\n"
		      "\tdone\n}\n"
		      "_sctrace_offset()\n{\n\tif declare -F _command_offset >/dev/null; then _command_offset \"$1\"\n"
		      "\telse _sctrace_files -f; fi\n}\n");
}

/* Writes bash code that completes the words after the name of the program. */
static void bash_arguments(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	buf_adds(out, "\tlocal program=0\n\tcase $command in\n");
	for (size_t i = 0; i < n; i++) {
		if (!commands[i]->stop_at_operand)
			continue;
		buf_addf(out, "\t'%s') _sctrace_program %d '", subcommand(commands[i]), words_in(commands[i]));
		add_letters(out, commands[i]);
		buf_adds(out, "' '");
		add_long_names(out, commands[i]);
		buf_adds(out, "' ;;\n");
	}
	buf_adds(out, "\tesac\n"
		      "\tif ((program && program < COMP_CWORD)); then _sctrace_offset \"$program\"; return; fi\n");
}

static void bash_operands(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	buf_adds(out, "\telif ((program == COMP_CWORD)); then\n\t\t_sctrace_files -c -f\n");
	for (size_t i = 0; i < n; i++) {
		const struct opt_command *c = commands[i];
		if (c->operands || c->commands)
			buf_addf(out, "\telif [[ $command == '%s' ]]; then\n\t\t", subcommand(c));
		if (c->operands)
			buf_addf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n", c->operands);
		else if (c->commands)
			buf_adds(out, "_sctrace_files -c -f\n");
	}
}

static void bash_script(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	const char *name = commands[0]->name;
	buf_addf(out, "# bash completion for %s; made by `%s --completion bash`.\n", name, name);
	buf_adds(out, "_sctrace_list()\n{\n\tlocal before=${cur%\"${cur##*[,!]}\"}\n"
		      "\tCOMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"${cur##*[,!]}\"))\n}\n");
	/* The shell quotes names of files, but not other words: "--format\\=" would be the result. */
	buf_adds(out, "_sctrace_files()\n{\n\tcompopt -o filenames\n"
		      "\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n}\n");
	bash_program(out);
	buf_addf(out, "_%s()\n{\n", name);
	bash_context(commands, n, out);
	bash_arguments(commands, n, out);
	buf_adds(out, "\tcase $command:$prev in\n");
	for (size_t i = 0; i < n; i++)
		for (const struct opt *o = commands[i]->table; !opt_is_end(o); o++)
			bash_value(out, commands[i], o);
	buf_adds(out, "\tesac\n\tif [[ $cur == -* ]]; then\n\t\tcase $command in\n");
	for (size_t i = 0; i < n; i++)
		bash_options(out, commands[i]);
	buf_adds(out, "\t\tesac\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		      "\t\t[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
		      "\telif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -c -W '");
	add_subcommands(out, commands, n, false, "", " ");
	buf_adds(out, "' -- \"$cur\") $(compgen -f -- \"$cur\"))\n\t\tcompopt -o filenames\n");
	bash_operands(commands, n, out);
	buf_adds(out, "\telse\n\t\t_sctrace_files -f\n\tfi\n}\n");
	buf_addf(out, "complete -F _%s %s\n", name, name);
}

/* Writes the part of an _arguments specification that says how to complete the option's value. */
static void zsh_action(struct buf *out, const struct opt *o)
{
	static const char *const actions[] = {
		[COMPLETE_FILE] = "_files", [COMPLETE_DIR] = "_files -/",     [COMPLETE_PID] = "_pids",
		[COMPLETE_USER] = "_users", [COMPLETE_SET] = " _sctrace_set", [COMPLETE_EXPR] = " _sctrace_expr"};
	if (o->complete == COMPLETE_WORDS)
		buf_addf(out, "(%s)", words_of(o));
	else if (o->complete == COMPLETE_LIST)
		buf_addf(out, " _sctrace_list %s", words_of(o));
	else if (actions[o->complete])
		buf_adds(out, actions[o->complete]);
}

/* Writes one spelling of an option as zsh's _arguments expects it, such as '*-o+[help]:FILE:_files'. */
static void zsh_spec(struct buf *out, const struct opt *o, bool letter)
{
	bool may = o->arg && o->arg[0] == '[';
	buf_adds(out, "\t\t'*");
	if (letter)
		buf_addf(out, "-%c%s", o->letter, may ? "=-" : o->arg ? "+" : "");
	else
		buf_addf(out, "--%s%s", o->name, may ? "=-" : o->arg ? "=" : "");
	buf_addc(out, '[');
	add_quoted(out, o->help, "[]\\");
	buf_addc(out, ']');
	if (o->arg) {
		buf_adds(out, may ? "::" : ":");
		add_quoted(out, o->arg, ":\\");
		buf_addc(out, ':');
		zsh_action(out, o);
	}
	buf_adds(out, "' \\\n");
}

/* Writes the name of the zsh function of a command: _sctrace_trace, _sctrace_compare, _sctrace_bench_syscall. */
static void zsh_function(struct buf *out, const struct opt_command *c, const char *name)
{
	buf_addf(out, "_%s_", name);
	for (const char *p = *subcommand(c) ? subcommand(c) : "trace"; *p; p++)
		buf_addc(out, *p == ' ' ? '_' : *p);
}

static void zsh_command(struct buf *out, const struct opt_command *c, const char *name)
{
	zsh_function(out, c, name);
	buf_addf(out, "()\n{\n\t_arguments -s -S %s\\\n", c->stop_at_operand ? "-A '-*' " : "");
	for (const struct opt *o = c->table; !opt_is_end(o); o++) {
		if (is_shown(o) && o->letter)
			zsh_spec(out, o, true);
		if (is_shown(o) && o->name)
			zsh_spec(out, o, false);
	}
	buf_adds(out, "\t\t'(- *)'{-h,--help}'[print help]' '(- *)'{-V,--version}'[print the version]' \\\n");
	if (c->operands)
		buf_addf(out, "\t\t'*:what:(%s)'\n}\n", c->operands);
	else
		buf_adds(out, c->stop_at_operand ? "\t\t'1:program:_command_names -e' '*::arguments:_normal'\n}\n"
			      : c->commands      ? "\t\t'*:command:_command_names -e'\n}\n"
						 : "\t\t'*:argument:_files'\n}\n");
}

/*
 * Writes zsh functions that complete words separated by commas: _sctrace_list for the words in its arguments,
 * _sctrace_set for the command's `set_words`, and _sctrace_expr for the expressions of -e.
 */
static void zsh_lists(struct buf *out, const struct opt_command *c)
{
	buf_addf(out,
		 "_sctrace_list()\n{\n\tcompset -P '*[,!]'\n\tcompset -S ',*'\n\tcompadd -q -S, -- \"$@\"\n}\n"
		 "_sctrace_set()\n{\n\t_sctrace_list %s\n}\n",
		 set_of(c));
	for (const struct opt *o = c->table; !opt_is_end(o); o++) {
		const char *words = o->words;
		const struct opt *named;
		if (o->complete != COMPLETE_EXPR)
			continue;
		buf_adds(out, "_sctrace_expr()\n{\n\tcase $PREFIX in\n");
		while ((named = next_named(c->table, &words)))
			buf_addf(out, "\t(%s=*) compset -P 1 '*='; %s %s ;;\n", named->name,
				 named->complete == COMPLETE_SET ? "_sctrace_set" : "_sctrace_list",
				 named->complete == COMPLETE_SET ? "" : words_of(named));
		buf_adds(out, "\t(*) compadd -S '' --");
		for (words = o->words; (named = next_named(c->table, &words));)
			buf_addf(out, " %s=", named->name);
		buf_adds(out, "; _sctrace_set ;;\n\tesac\n}\n");
	}
}

static void zsh_script(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	const char *name = commands[0]->name;
	buf_addf(out, "#compdef %s\n# Made by `%s --completion zsh`.\n", name, name);
	zsh_lists(out, commands[0]);
	for (size_t i = 0; i < n; i++)
		zsh_command(out, commands[i], name);
	buf_addf(out, "_%s()\n{\n\tlocal command=\n\t((CURRENT > 2)) && case $words[2] in (", name);
	add_subcommands(out, commands, n, false, "", "|");
	buf_adds(out, ") command=$words[2]; shift words; ((CURRENT--)) ;; esac\n"
		      "\t((CURRENT > 2)) && case \"$command $words[2]\" in (");
	add_subcommands(out, commands, n, true, "'", "|");
	buf_addf(out,
		 "'') command+=_$words[2]; shift words; ((CURRENT--)) ;; esac\n"
		 "\tif [[ $command ]]; then _%s_$command; return; fi\n\t((CURRENT == 2)) && compadd -- ",
		 name);
	add_subcommands(out, commands, n, false, "", " ");
	/*
	 * If zsh loads this file from fpath, the file is the body of the function, so the file must call the function.
	 * If zsh sources the file, the file must only register the function.
	 */
	buf_addf(out, "\n\t_%s_trace\n}\nif [[ $funcstack[1] == _%s ]]; then _%s \"$@\"; else compdef _%s %s; fi\n",
		 name, name, name, name, name);
}

static void fish_option(struct buf *out, const char *name, const char *command, const struct opt *o)
{
	static const char *const values[] = {
		[COMPLETE_NONE] = " -x",
		[COMPLETE_FILE] = " -r -F",
		[COMPLETE_DIR] = " -x -a '(__fish_complete_directories)'",
		[COMPLETE_PID] = " -x -a '(__fish_complete_pids)'",
		[COMPLETE_USER] = " -x -a '(__fish_complete_users)'",
		[COMPLETE_SET] = " -x -a '(__sctrace_set)'",
		[COMPLETE_EXPR] = " -x -a '(__sctrace_expr)'",
	};
	buf_addf(out, "complete -c %s -n '__%s_command \"%s\"'", name, name, command);
	if (o->letter)
		buf_addf(out, " -s %c", o->letter);
	if (o->name)
		buf_addf(out, " -l %s", o->name);
	if (o->arg && o->complete == COMPLETE_WORDS)
		buf_addf(out, " -x -a '%s'", words_of(o));
	else if (o->arg && o->complete == COMPLETE_LIST)
		buf_addf(out, " -x -a '(__sctrace_list %s)'", words_of(o));
	else if (o->arg && (o->name || o->arg[0] != '[')) /* an optional value of a letter is never the next word */
		buf_adds(out, values[o->complete]);
	buf_adds(out, " -d '");
	add_quoted(out, o->help, "\\");
	buf_adds(out, "'\n");
}

/* fish: offers each word with the finished part of the token, such as "trace=openat,", before it. */
static void fish_lists(struct buf *out, const struct opt_command *c)
{
	buf_addf(out,
		 "function __sctrace_list\n\tset -l token (string replace -r -- '^--[^=]*=' '' (commandline -ct))\n"
		 "\tset -l before (string match -r -- '^.*[,!=]' $token)\n"
		 "\tfor word in $argv\n\t\techo \"$before$word\"\n\tend\nend\n"
		 "function __sctrace_set\n\t__sctrace_list %s\nend\n",
		 set_of(c));
	for (const struct opt *o = c->table; !opt_is_end(o); o++) {
		const char *words = o->words;
		const struct opt *named;
		if (o->complete != COMPLETE_EXPR)
			continue;
		buf_adds(out, "function __sctrace_expr\n\tswitch (commandline -ct)\n");
		while ((named = next_named(c->table, &words)))
			buf_addf(out, "\t\tcase '%s=*'\n\t\t\t%s %s\n", named->name,
				 named->complete == COMPLETE_SET ? "__sctrace_set" : "__sctrace_list",
				 named->complete == COMPLETE_SET ? "" : words_of(named));
		buf_adds(out, "\t\tcase '*'\n\t\t\t__sctrace_set\n\t\t\tprintf '%s=\\n'");
		for (words = o->words; (named = next_named(c->table, &words));)
			buf_addf(out, " %s", named->name);
		buf_adds(out, "\n\tend\nend\n");
	}
}

/* Writes fish functions that tell which command is typed, and where its program is. */
static void fish_context(const struct opt_command *const *commands, size_t n, const char *name, struct buf *out)
{
	buf_addf(out,
		 "function __%s_is\n\tset -l words (commandline -opc)\n\tset -l command ''\n"
		 "\tif set -q words[2]; and contains -- $words[2] ",
		 name);
	add_subcommands(out, commands, n, false, "", " ");
	buf_adds(out, "\n\t\tset command $words[2]\n\t\tif set -q words[3]; and contains -- \"$words[2] $words[3]\" ");
	add_subcommands(out, commands, n, true, "'", " ");
	buf_addf(
		out,
		"\n\t\t\tset command \"$words[2] $words[3]\"\n\t\tend\n\tend\n\ttest \"$command\" = \"$argv[1]\"\nend\n"
		"# Prints the position of the program, which may be the current token or, if there is none, follow "
		"it.\n"
		"function __%s_program\n\tset -l words (commandline -opc)\n\tset -l i 1\n\tset -l letters\n\tset -l "
		"names\n"
		"\tswitch $argv[1]\n",
		name);
	for (size_t i = 0; i < n; i++) {
		if (!commands[i]->stop_at_operand)
			continue;
		buf_addf(out, "\tcase '%s'\n\t\tset i %d\n\t\tset letters '", subcommand(commands[i]),
			 words_in(commands[i]) + 1);
		add_letters(out, commands[i]);
		buf_adds(out, "'\n\t\tset names ");
		add_long_names(out, commands[i]);
		buf_adds(out, "\n");
	}
	buf_addf(out,
		 "\tcase '*'\n\t\tset i (math (count $words) + 1)\n\tend\n"
		 "\twhile set -q words[$i]\n\t\tswitch $words[$i]\n"
		 "\t\tcase --\n\t\t\tset i (math $i + 1)\n\t\t\tbreak\n"
		 "\t\tcase '--*'\n\t\t\tcontains -- $words[$i] $names; and set i (math $i + 1)\n"
		 "\t\tcase '-*'\n"
		 "\t\t\tstring match -qr -- \"^-[^$letters]*[$letters]\\$\" $words[$i]; and set i (math $i + 1)\n"
		 "\t\tcase '*'\n\t\t\tbreak\n\t\tend\n\t\tset i (math $i + 1)\n\tend\n\techo $i\nend\n"
		 "function __%s_command\n\t__%s_is $argv[1]; and test (__%s_program $argv[1]) -gt (count (commandline "
		 "-opc))\n"
		 "end\n"
		 "# fish also runs this for an option of %s, which begins with -.\n"
		 "function __%s_arguments\n\tset -l words (commandline -opc) (commandline -ct)\n"
		 "\tset -l i (__%s_program $argv[1])\n\tstring match -q -- '-*' $words[$i]; and return\n"
		 "\tcomplete -C (string join ' ' -- $words[$i..-1])\nend\n",
		 name, name, name, name, name, name);
}

static void fish_script(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	const char *name = commands[0]->name;
	buf_addf(out, "# fish completion for %s; made by `%s --completion fish`.\n", name, name);
	fish_lists(out, commands[0]);
	fish_context(commands, n, name, out);
	for (size_t i = 0; i < n; i++)
		if (*subcommand(commands[i]) && !is_inner(commands[i]))
			buf_addf(out, "complete -c %s -n '__fish_is_first_token' -a %s -d '%s'\n", name,
				 subcommand(commands[i]), commands[i]->about);
	for (size_t i = 0; i < n; i++) {
		const struct opt_command *c = commands[i];
		if (c->operands)
			buf_addf(out, "complete -c %s -n '__%s_command \"%s\"' -f -a '%s'\n", name, name, subcommand(c),
				 c->operands);
		else if (c->stop_at_operand)
			buf_addf(out, "complete -c %s -n '__%s_is \"%s\"' -x -a '(__%s_arguments \"%s\")'\n", name,
				 name, subcommand(c), name, subcommand(c));
		else if (c->commands)
			buf_addf(out, "complete -c %s -n '__%s_command \"%s\"' -x -a '(__fish_complete_command)'\n",
				 name, name, subcommand(c));
	}
	for (size_t i = 0; i < n; i++) {
		for (const struct opt *o = commands[i]->table; !opt_is_end(o); o++)
			if (is_shown(o))
				fish_option(out, name, subcommand(commands[i]), o);
		for (const struct opt *o = opt_common; !opt_is_end(o); o++)
			fish_option(out, name, subcommand(commands[i]), o);
	}
}

int opt_completion(const struct opt_command *const *commands, size_t n, const char *shell, struct buf *out)
{
	static const struct {
		const char *shell;
		void (*write)(const struct opt_command *const *commands, size_t n, struct buf *out);
	} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
	for (size_t i = 0; n && i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(shells[i].shell, shell) != 0)
			continue;
		shells[i].write(commands, n, out);
		return 0;
	}
	return -EINVAL;
}
