# What `cmake --install` puts where, and the Debian package made of it (`cmake --build --preset release --target package`, or scripts/package).
include(GNUInstallDirs)

install(TARGETS lagoon RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The program looks for models in ../share/lagoon/models beside its own folder.
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lagoon/models)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/guide.md docs/cli.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

# Manual pages and completions are what the program itself prints.
set(printed ${CMAKE_BINARY_DIR}/printed)
add_custom_command(OUTPUT ${printed}/done DEPENDS lagoon
                   COMMAND ${CMAKE_COMMAND} -E rm -rf ${printed}
                   COMMAND ${CMAKE_COMMAND} -E make_directory ${printed}/man
                   COMMAND lagoon man --all ${printed}/man
                   COMMAND lagoon completion bash > ${printed}/lagoon.bash
                   COMMAND lagoon completion zsh > ${printed}/lagoon.zsh
                   COMMAND lagoon completion fish > ${printed}/lagoon.fish
                   COMMAND ${CMAKE_COMMAND} -E touch ${printed}/done VERBATIM)
add_custom_target(printed ALL DEPENDS ${printed}/done)
install(DIRECTORY ${printed}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${printed}/lagoon.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lagoon)
install(FILES ${printed}/lagoon.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _lagoon)
install(FILES ${printed}/lagoon.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Lagoon maintainers <maintainers@lagoon.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs Laguna language models on machines that people own")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Inspects, plans, runs, scores and benchmarks published checkpoints of Poolside's Laguna language models (XS.2, XS-2.1, S-2.1, M.1) inside a\n memory budget that it computes before anything loads. A small trained model, nano, is part of the package.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# The libraries that the program is linked with, at the versions that this system has.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
