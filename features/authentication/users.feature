Feature: Users and passwords
  A broker with users accepts the clients that know the name and the password of one.

  Background:
    Given a broker with users
    And user "alice" with password "pw-alice"

  @AUTH-005 @AUTH-051 @AUTH-053
  Scenario: A client with name and password is connected
    Given the client has opened a connection
    When the client connects as user "alice" with password "pw-alice"
    Then the command succeeds

  @AUTH-004 @AUTH-006
  Scenario Outline: A client with <fault> is refused
    Given the client has opened a connection
    When the client connects as user "<user>" with password "<password>"
    Then the command is refused with AUTH_FAILED
    When the client sends a ListQueues with id "list"
    Then the client receives Error NOT_AUTHENTICATED with id "list"

    Examples:
      | fault                      | user  | password  |
      | a wrong password           | alice | wrong     |
      | a password in another case | alice | PW-alice  |
      | a name in another case     | Alice | pw-alice  |
      | an unknown name            | bob   | pw-alice  |

  @AUTH-003
  Scenario: A client without credentials is refused
    Given the client has opened a connection
    When the client connects without credentials
    Then the command is refused with AUTH_REQUIRED

  @AUTH-008
  Scenario: A refused client may try again
    Given the client has opened a connection
    When the client connects without credentials
    Then the command is refused with AUTH_REQUIRED
    When the client connects as user "alice" with password "wrong"
    Then the command is refused with AUTH_FAILED
    When the client connects as user "alice" with password "pw-alice"
    Then the command succeeds

  @AUTH-009
  Scenario: The third refusal ends the connection
    Given the client has opened a connection
    When the client connects as user "alice" with password "wrong"
    Then the command is refused with AUTH_FAILED
    When the client connects without credentials
    Then the command is refused with AUTH_REQUIRED
    And the connection of the client is open
    When the client connects as user "alice" with password "wrong"
    Then the command is refused with AUTH_FAILED
    And the broker closes the connection of the client

  @AUTH-017
  Scenario: The superuser may do everything
    Given the client is connected as user "vibemq" with password "super-secret"
    When the client creates queue "orders"
    Then the command succeeds
    When the client publishes message "m1" to queue "orders"
    Then message "m1" is confirmed to the client
