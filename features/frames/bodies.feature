Feature: Message bodies
  A faulty body inside an intact frame is a command that cannot be carried out. The broker refuses it and reads the next frame of
  the connection.

  @BODY-029 @BODY-030 @BODY-031
  Scenario Outline: A body that <fault>
    Given the publisher is connected
    When the publisher sends a Publish of message "m1" that <fault>
    Then the publisher receives Error INVALID_MESSAGE
    And the connection of the publisher stays open
    And queue "orders" does not exist

    Examples:
      | fault                                    |
      | ends after the command                   |
      | ends in the id                           |
      | ends in the queue                        |
      | ends in the payload                      |
      | ends in the headers                      |
      | announces more headers than it has       |
      | announces a payload longer than the body |

  @BODY-005 @BODY-020 @BODY-021 @BODY-032 @CONN-009
  Scenario Outline: A body that <fault>
    Given the publisher is connected
    When the publisher sends a Publish of message "m1" that <fault>
    Then the publisher receives Error INVALID_MESSAGE
    And the connection of the publisher stays open
    And queue "orders" does not exist

    Examples:
      | fault                               |
      | has an empty id                     |
      | has an id that is not UTF-8         |
      | has a queue name that is not UTF-8  |
      | has a header name that is not UTF-8 |
      | has a header value that is not UTF-8 |

  @CONN-009
  Scenario: An Error that answers a command without id has a new id
    Given the publisher is connected
    When the publisher sends a Publish of message "m1" that has an empty id
    Then the publisher receives Error INVALID_MESSAGE with a new id

  @BODY-033
  Scenario: Other connections are not affected
    Given the subscriber subscribes to queue "orders"
    And client A is connected
    When client A sends a Publish of message "m1" that ends in the payload
    And the publisher publishes message "m2" to queue "orders"
    Then client A receives Error INVALID_MESSAGE
    And message "m2" is confirmed to the publisher
    And the subscriber receives message "m2"

  @BODY-011 @BODY-014
  Scenario: Bytes after the last field are ignored and not delivered
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected
    When the publisher sends a Publish of message "m1" that has bytes after its last field
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1" with nothing after its last field

  @BODY-012
  Scenario: The last of two headers with the same name is used
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected
    When the publisher sends a Publish of message "m1" that has the same header twice, first with another value
    Then the subscriber receives message "m1" with exactly these headers:
      | color | blue |

  @BODY-009
  Scenario Outline: A Publish that <oddity> is carried out without that header
    Given the subscriber subscribes to queue "orders"
    And the publisher is connected
    When the publisher sends a Publish of message "m1" that <oddity>
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1" with exactly these headers:
      | color | blue |

    Examples:
      | oddity                          |
      | has a header with an empty name  |
      | has a header with an empty value |

  @BODY-025 @BODY-026
  Scenario: A message has at most 50 headers
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m50" with 50 headers to queue "orders"
    And the publisher publishes message "m51" with 51 headers to queue "orders"
    Then message "m50" is confirmed to the publisher
    And message "m51" of the publisher is refused with INVALID_MESSAGE
    And the subscriber receives message "m50"

  @BODY-027 @BODY-028
  Scenario: A header value has at most 4096 characters
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" with a header value of 4096 characters to queue "orders"
    And the publisher publishes message "m2" with a header value of 4097 characters to queue "orders"
    Then message "m1" is confirmed to the publisher
    And message "m2" of the publisher is refused with INVALID_MESSAGE
    And the subscriber receives message "m1"

  @BODY-017
  Scenario: Ids are case-sensitive
    When the publisher publishes messages "m1, M1" to queue "orders"
    Then messages "m1, M1" are confirmed to the publisher
    And queue "orders" has 2 waiting messages

  @BODY-015
  Scenario Outline: An id of <length> bytes is accepted
    Given the client is connected
    When the client sends a Ping with an id of <length> bytes
    Then the client receives a Pong with that id

    Examples:
      | length |
      | 1      |
      | 256    |
