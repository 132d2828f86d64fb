// A database as it is at the start of a run: tables and seed rows, built once, loaded by
// DatabaseEngine::reset() in about a microsecond.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "model/database/schema.h"

namespace fencepost::model {

// A script of an image is wrong; the text says which statement, and what is wrong with it.
class ImageError : public std::runtime_error {
public:
    // `script` and `line` count from 1.
    ImageError(std::size_t script, std::size_t line, const std::string& sentence)
        : std::runtime_error("script " + std::to_string(script) + ", line " + std::to_string(line) +
                             ": " + sentence),
          script_(script),
          line_(line),
          sentence_(sentence) {}

    [[nodiscard]] std::size_t script() const { return script_; }
    [[nodiscard]] std::size_t line() const { return line_; }
    [[nodiscard]] const std::string& sentence() const { return sentence_; }

private:
    std::size_t script_;
    std::size_t line_;
    std::string sentence_;
};

class DatabaseImage {
public:
    // Runs the scripts in order on an empty database. Statements end with a semicolon: DDL, and
    // INSERT, UPDATE and DELETE for seed rows. Throws ImageError.
    [[nodiscard]] static DatabaseImage build(std::span<const std::string> scripts);
    [[nodiscard]] static DatabaseImage build(const std::string& script);
    // Without tables.
    [[nodiscard]] static DatabaseImage empty();

    [[nodiscard]] const Schema& schema() const;

private:
    friend class DatabaseEngine;
    struct Content;
    explicit DatabaseImage(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

    std::shared_ptr<const Content> content_;
};

}  // namespace fencepost::model
