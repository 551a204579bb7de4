#include "commands/program.h"

int main(int count, char** arguments) { return lagoon::run_program(count, arguments); }
