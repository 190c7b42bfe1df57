Feature: A token and users
  A broker may accept a token and users. A client that sends both is the user.

  Background:
    Given a broker with users that also accepts the token "a token of 32 or more characters"
    And user "alice" with password "pw-alice"

  @AUTH-001 @AUTH-032 @AUTH-033
  Scenario: The token gives all rights on queues and no admin rights
    Given client A is connected with the token "a token of 32 or more characters"
    When client A creates queue "orders"
    Then the command succeeds
    When client A sends AdminListUsers without payload
    Then the command is refused with NOT_AUTHORIZED

  @AUTH-031
  Scenario: A name and a password count more than the token
    Given client B has opened a connection
    When client B connects with the token "a token of 32 or more characters" and as user "alice" with password "pw-alice"
    Then the command succeeds
    When client B creates queue "orders"
    Then the command is refused with NOT_AUTHORIZED

  @AUTH-004
  Scenario: A wrong password is refused, whatever the token
    Given the client has opened a connection
    When the client connects with the token "a token of 32 or more characters" and as user "alice" with password "wrong"
    Then the command is refused with AUTH_FAILED
