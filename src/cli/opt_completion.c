/* Completion scripts for shells, made of the option tables. */
#include "cli/opt.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

static bool is_end(const struct opt *o)
{
	return !o->letter && !o->name && !o->help;
}

/* A row that is offered: headings and options without help are not. */
static bool is_shown(const struct opt *o)
{
	return (o->letter || o->name) && o->help;
}

/* "compare" of "sctrace compare", "" of "sctrace". */
static const char *subcommand(const struct opt_command *c)
{
	const char *space = strchr(c->name, ' ');
	return space ? space + 1 : "";
}

/* Texts of rows hold no quotes but may one day: inside single quotes `'` is written '\''. */
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

/* bash: a case of "COMMAND:OPTION" for each option with a value, then the options themselves. */
static const char *bash_action(const struct opt *o)
{
	switch (o->complete) {
	case COMPLETE_FILE:
		return "compgen -f -- \"$cur\"";
	case COMPLETE_DIR:
		return "compgen -d -- \"$cur\"";
	case COMPLETE_PID:
		return "command ps -eo pid= | command tr -d ' ' | command grep \"^$cur\"";
	case COMPLETE_USER:
		return "compgen -u -- \"$cur\"";
	case COMPLETE_NONE:
	case COMPLETE_WORDS:
		break;
	}
	return NULL;
}

static void bash_value(struct buf *out, const char *command, const struct opt *o)
{
	if (!o->arg || !is_shown(o))
		return;
	buf_adds(out, "\t");
	if (o->letter)
		buf_addf(out, "%s:-%c%s", command, o->letter, o->name ? "|" : "");
	if (o->name)
		buf_addf(out, "%s:--%s", command, o->name);
	buf_adds(out, ") ");
	if (o->complete == COMPLETE_WORDS)
		buf_addf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", o->words ? o->words : "");
	else if (bash_action(o))
		buf_addf(out, "COMPREPLY=($(%s))", bash_action(o));
	else
		buf_adds(out, ":");
	buf_adds(out, "; return ;;\n");
}

static void bash_options(struct buf *out, const struct opt_command *c)
{
	buf_addf(out, "\t\t'%s') words='", subcommand(c));
	for (const struct opt *o = c->table; !is_end(o); o++) {
		if (is_shown(o) && o->letter)
			buf_addf(out, "-%c ", o->letter);
		if (is_shown(o) && o->name)
			buf_addf(out, "--%s%s ", o->name, o->arg && o->arg[0] != '[' ? "=" : "");
	}
	buf_adds(out, "-h --help -V --version' ;;\n");
}

static void add_subcommands(struct buf *out, const struct opt_command *const *commands, size_t n, const char *between)
{
	const char *sep = "";
	for (size_t i = 0; i < n; i++) {
		if (!*subcommand(commands[i]))
			continue;
		buf_addf(out, "%s%s", sep, subcommand(commands[i]));
		sep = between;
	}
}

static void bash_script(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	const char *name = commands[0]->name;
	buf_addf(out, "# bash completion for %s; made by `%s --completion bash`.\n_%s()\n{\n", name, name, name);
	buf_adds(out, "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= words=\n"
		      "\t# bash takes \"=\" for a word of its own\n"
		      "\tif [[ $cur == = ]]; then cur=\n"
		      "\telif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		      "\tCOMPREPLY=()\n"
		      "\tcase ${COMP_WORDS[1]} in ");
	add_subcommands(out, commands, n, "|");
	buf_adds(out, ") ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]} ;; esac\n\tcase $command:$prev in\n");
	for (size_t i = 0; i < n; i++)
		for (const struct opt *o = commands[i]->table; !is_end(o); o++)
			bash_value(out, subcommand(commands[i]), o);
	buf_adds(out, "\tesac\n\tif [[ $cur == -* ]]; then\n\t\tcase $command in\n");
	for (size_t i = 0; i < n; i++)
		bash_options(out, commands[i]);
	buf_adds(out, "\t\tesac\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		      "\t\t[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
		      "\telif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -c -W '");
	add_subcommands(out, commands, n, " ");
	buf_adds(out, "' -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
		      "\telif [[ -z $command && $prev == -* ]]; then\n\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n");
	for (size_t i = 0; i < n; i++)
		if (commands[i]->operands)
			buf_addf(out,
				 "\telif [[ $command == %s ]] && ((COMP_CWORD == 2)); then\n"
				 "\t\tCOMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n",
				 subcommand(commands[i]), commands[i]->operands);
	buf_adds(out, "\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n");
	buf_addf(out, "complete -o filenames -F _%s %s\n", name, name);
}

static const char *zsh_action(const struct opt *o)
{
	static const char *const actions[] = {
		[COMPLETE_NONE] = "",     [COMPLETE_FILE] = "_files", [COMPLETE_DIR] = "_files -/",
		[COMPLETE_PID] = "_pids", [COMPLETE_USER] = "_users", [COMPLETE_WORDS] = NULL};
	return actions[o->complete];
}

/* One spelling of an option as _arguments takes it: '*-o+[help]:FILE:_files'. */
static void zsh_spec(struct buf *out, const struct opt *o, bool letter)
{
	bool may = o->arg && o->arg[0] == '[';
	buf_adds(out, "\t\t'*");
	if (letter)
		buf_addf(out, "-%c%s", o->letter, o->arg ? "+" : "");
	else
		buf_addf(out, "--%s%s", o->name, may ? "=-" : o->arg ? "=" : "");
	buf_addc(out, '[');
	add_quoted(out, o->help, "[]\\");
	buf_addc(out, ']');
	if (o->arg) {
		buf_adds(out, may ? "::" : ":");
		add_quoted(out, o->arg, ":\\");
		buf_addc(out, ':');
		if (o->complete == COMPLETE_WORDS)
			buf_addf(out, "(%s)", o->words ? o->words : "");
		else
			buf_adds(out, zsh_action(o));
	}
	buf_adds(out, "' \\\n");
}

static void zsh_command(struct buf *out, const struct opt_command *c, const char *name)
{
	buf_addf(out, "_%s%s%s()\n{\n\t_arguments -s -S \\\n", name, *subcommand(c) ? "_" : "_trace", subcommand(c));
	for (const struct opt *o = c->table; !is_end(o); o++) {
		if (is_shown(o) && o->letter)
			zsh_spec(out, o, true);
		if (is_shown(o) && o->name)
			zsh_spec(out, o, false);
	}
	buf_adds(out, "\t\t'(- *)'{-h,--help}'[print help]' '(- *)'{-V,--version}'[print the version]' \\\n");
	if (c->operands)
		buf_addf(out, "\t\t'1:what:(%s)' \\\n", c->operands);
	buf_adds(out, c->stop_at_operand ? "\t\t'1:program:_command_names -e' '*::arguments:_normal'\n}\n"
					 : "\t\t'*:argument:_files'\n}\n");
}

static void zsh_script(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	const char *name = commands[0]->name;
	buf_addf(out, "#compdef %s\n# Made by `%s --completion zsh`.\n", name, name);
	for (size_t i = 0; i < n; i++)
		zsh_command(out, commands[i], name);
	buf_addf(out, "_%s()\n{\n\tcase $words[2] in\n\t", name);
	add_subcommands(out, commands, n, "|");
	buf_addf(out,
		 ")\n\t\tif ((CURRENT > 2)); then\n\t\t\tlocal command=$words[2]\n\t\t\tshift words\n"
		 "\t\t\t((CURRENT--))\n\t\t\t_%s_$command\n\t\t\treturn\n\t\tfi ;;\n\tesac\n"
		 "\t((CURRENT == 2)) && compadd -- ",
		 name);
	add_subcommands(out, commands, n, " ");
	buf_addf(out, "\n\t_%s_trace\n}\n_%s \"$@\"\n", name, name);
}

static void fish_option(struct buf *out, const char *name, const char *command, const struct opt *o)
{
	static const char *const values[] = {
		[COMPLETE_NONE] = " -x",
		[COMPLETE_FILE] = " -r -F",
		[COMPLETE_DIR] = " -x -a '(__fish_complete_directories)'",
		[COMPLETE_PID] = " -x -a '(__fish_complete_pids)'",
		[COMPLETE_USER] = " -x -a '(__fish_complete_users)'",
		[COMPLETE_WORDS] = "",
	};
	buf_addf(out, "complete -c %s -n '__%s_command \"%s\"'", name, name, command);
	if (o->letter)
		buf_addf(out, " -s %c", o->letter);
	if (o->name)
		buf_addf(out, " -l %s", o->name);
	if (o->arg)
		buf_adds(out, values[o->complete]);
	if (o->arg && o->complete == COMPLETE_WORDS)
		buf_addf(out, " -x -a '%s'", o->words ? o->words : "");
	buf_adds(out, " -d '");
	add_quoted(out, o->help, "\\");
	buf_adds(out, "'\n");
}

static void fish_script(const struct opt_command *const *commands, size_t n, struct buf *out)
{
	const char *name = commands[0]->name;
	buf_addf(out,
		 "# fish completion for %s; made by `%s --completion fish`.\nfunction __%s_command\n"
		 "\tset -l words (commandline -opc)\n\tset -l command ''\n"
		 "\tif set -q words[2]; and contains -- $words[2] ",
		 name, name, name);
	add_subcommands(out, commands, n, " ");
	buf_addf(out, "\n\t\tset command $words[2]\n\tend\n\ttest \"$command\" = \"$argv[1]\"\nend\n");
	for (size_t i = 0; i < n; i++)
		if (*subcommand(commands[i]))
			buf_addf(out, "complete -c %s -n '__fish_is_first_token' -a %s -d '%s'\n", name,
				 subcommand(commands[i]), commands[i]->about);
	for (size_t i = 0; i < n; i++)
		if (commands[i]->operands)
			buf_addf(out,
				 "complete -c %s -n '__%s_command \"%s\"; and test (count (commandline -opc)) -eq 2' "
				 "-f -a '%s'\n",
				 name, name, subcommand(commands[i]), commands[i]->operands);
	buf_addf(out, "complete -c %s -n '__%s_command \"\"' -x -a '(__fish_complete_subcommand)'\n", name, name);
	for (size_t i = 0; i < n; i++)
		for (const struct opt *o = commands[i]->table; !is_end(o); o++)
			if (is_shown(o))
				fish_option(out, name, subcommand(commands[i]), o);
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
