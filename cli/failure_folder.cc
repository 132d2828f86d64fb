#include "cli/failure_folder.h"

#include "cli/command_error.h"
#include "cli/files.h"

namespace fencepost::cli {

FailureFolder::FailureFolder(const Arguments& arguments, Console& console, const std::string& in_it)
    : console_(console),
      folder_(arguments.text("out").value_or("fencepost-failures")),
      asked_for_(arguments.has("out")) {
    if (!asked_for_) return;
    if (!in_it.empty()) folder_ /= in_it;
    make_folder(folder_);
    check_writable(folder_ / "summary.json");
}

std::string FailureFolder::save(const scenarios::Failure& failure) {
    return write(scenarios::failure_file_name(failure), scenarios::to_json(failure));
}

std::string FailureFolder::save_plan(const std::string& name, const sim::Plan& plan) {
    return write(name, sim::to_json(plan));
}

void FailureFolder::write_summary(std::string_view json) const {
    if (asked_for_) write_file(folder_ / "summary.json", json);
}

std::string FailureFolder::write(const std::string& name, std::string_view text) {
    try {
        make_folder(folder_);
        write_file(folder_ / name, text);
        return (folder_ / name).string();
    } catch (const CommandError& error) {
        console_.err << "fencepost: " << error.what() << std::endl;
        return {};
    }
}

}  // namespace fencepost::cli
