// Reads one SQL statement as PostgreSQL's clients write it, far enough to know what it does and to
// hand it to SQLite: its kind, the name of its savepoint, the row-locking clauses that SQLite does
// not know, and the parts of an INSERT. It is not a parser of expressions; SQLite is.
//
// Offsets refer to the text that was read. Nothing here looks at a schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/database/outcome.h"

namespace fencepost::model {

enum class StatementKind {
    Begin,
    Commit,
    Rollback,
    Savepoint,
    RollbackTo,
    Release,
    Query,         // SELECT or VALUES
    LockingQuery,  // SELECT … FOR UPDATE and its weaker forms
    Write,         // INSERT, UPDATE, DELETE
    Ddl,           // CREATE, ALTER, DROP
    Other,         // anything else; execute() answers it with a failure
};

// What kind of statement a text is. Empty text is Other.
[[nodiscard]] StatementKind classify(std::string_view sql);

}  // namespace fencepost::model

namespace fencepost::model::database {

struct Token {
    // A word is a keyword or a plain identifier; a quoted word is an identifier in double quotes.
    enum class Kind : std::uint8_t { Word, Quoted, Number, String, Parameter, Symbol };
    Kind kind;
    std::uint16_t depth;  // of parentheses around it; an opening one counts as outside
    std::uint32_t begin;
    std::uint32_t end;
};

// The tokens of a text, comments left out. A text that cannot be read so yields a failure.
struct Tokens {
    std::string_view text;
    std::vector<Token> list;
    std::optional<SqlFailure> failure;

    [[nodiscard]] std::string_view at(std::size_t index) const {
        if (index >= list.size()) return {};
        return text.substr(list[index].begin, list[index].end - list[index].begin);
    }
    // Whether the token is this keyword or symbol; `word` is in capitals.
    [[nodiscard]] bool is(std::size_t index, std::string_view word) const;
    // The identifier that the token is: unquoted, or folded to lower case as PostgreSQL does.
    [[nodiscard]] std::string name(std::size_t index) const;
    // The index of the parenthesis that closes the one at `index`.
    [[nodiscard]] std::size_t closing(std::size_t index) const;
};

[[nodiscard]] Tokens tokenize(std::string_view text);

// A script as its single statements, without the semicolons; empty ones are left out.
[[nodiscard]] std::vector<std::string_view> split_script(std::string_view script);

struct TextRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

struct RowCondition;

// Replacements in a text; they must not overlap.
class TextEdits {
public:
    void replace(TextRange range, std::string replacement);
    void erase(TextRange range) { replace(range, " "); }
    void insert(std::size_t at, std::string addition) { replace({at, at}, std::move(addition)); }
    // Puts the range between two texts, which go outside of what has been put there before.
    void surround(TextRange range, std::string before, std::string after);
    void add_condition(const RowCondition& place, const std::string& condition);
    [[nodiscard]] std::string applied_to(std::string_view text) const;
    // The same within a part of the text; edits outside of it are left out.
    [[nodiscard]] std::string applied_to(std::string_view text, TextRange part) const;

private:
    struct Edit {
        TextRange range;
        std::string replacement;
    };
    std::vector<Edit> edits_;
};

// PostgreSQL's row lock modes, weakest first.
enum class LockMode : std::uint8_t { KeyShare, Share, NoKeyUpdate, Update };

enum class RowLockWait : std::uint8_t { Wait, NoWait, SkipLocked };

// The clauses of SELECT … FOR UPDATE that SQLite does not know.
struct LockingClause {
    std::string table;
    std::string qualifier;  // how the table is called in the statement: its alias or its name
    std::size_t select_list_end = 0;  // where columns can be added to the select list
    LockMode mode = LockMode::Update;
    RowLockWait wait = RowLockWait::Wait;
    std::optional<std::string> limit;  // a number or a parameter
    std::optional<std::string> offset;
};

enum class ConflictAction : std::uint8_t { Fail, Nothing, Update };

struct InsertParts {
    std::string table;
    std::vector<std::string> columns;  // empty: all of the table
    TextRange with;                    // the WITH clause before INSERT, or nothing
    TextRange body;                    // VALUES … or SELECT …; empty for DEFAULT VALUES
    bool computed = false;             // the body has a subquery or asks the clock
    bool overriding = false;           // OVERRIDING SYSTEM VALUE
    ConflictAction on_conflict = ConflictAction::Fail;
    std::vector<std::string> target;     // ON CONFLICT (these columns); empty: any unique key
    std::vector<std::string> assigned;   // DO UPDATE SET these columns
    std::string qualifier;               // how the table is called there
    TextRange assignments;               // what follows SET
    std::optional<TextRange> condition;  // what follows WHERE, if there is one
};

// Where a condition on the rows of an UPDATE or DELETE can be added.
struct RowCondition {
    std::string table;
    std::string qualifier;               // how the table is called there
    std::optional<TextRange> condition;  // what follows WHERE, if there is one
    std::size_t where_at = 0;            // where a WHERE can be put if there is none
};

// SELECT pg_advisory_xact_lock(…) or pg_try_advisory_xact_lock(…).
struct AdvisoryLock {
    bool tries = false;      // answers whether it got the lock, and does not wait
    bool hashes = false;     // the argument is that of hashtext()
    std::string argument{};  // a number, a text without its quotes, or a parameter: $1
};

struct Statement {
    StatementKind kind = StatementKind::Other;
    std::string name;                         // of a savepoint
    std::optional<IsolationLevel> isolation;  // of a BEGIN
    std::uint16_t parameter_count = 0;        // the highest $n
    TextEdits edits;                          // make SQLite's text out of the statement's
    std::size_t update_end = 0;               // where the word UPDATE of an UPDATE ends
    std::optional<LockingClause> locking;
    std::optional<InsertParts> insert;
    std::vector<TextRange> subqueries;  // of an UPDATE or DELETE, the outermost, with parentheses
    // Of those, … WHERE id = (SELECT … FOR UPDATE).
    std::vector<TextRange> locking_subqueries;
    std::optional<RowCondition> target;  // of an UPDATE or DELETE
    std::optional<AdvisoryLock> advisory_lock;
    std::optional<SqlFailure> failure;  // what execute() answers instead of running it
};

[[nodiscard]] Statement read_statement(const Tokens& tokens);

// The type that SQLite is given for a PostgreSQL type, in capitals, or nothing if it is kept.
[[nodiscard]] std::string_view replaced_type(std::string_view type);

}  // namespace fencepost::model::database
